/** The media type of a thumbnail by its first bytes; undefined for anything but JPEG and PNG. */
export function imageTypeOf(bytes: Buffer): 'image/jpeg' | 'image/png' | undefined {
  if (bytes.subarray(0, 3).equals(JPEG)) return 'image/jpeg';
  return bytes.subarray(0, 8).equals(PNG) ? 'image/png' : undefined;
}

const JPEG = Buffer.from([0xff, 0xd8, 0xff]);
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
