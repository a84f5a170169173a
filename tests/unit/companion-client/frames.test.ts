import { expect, test } from '@jest/globals';
import {
  createFrameReader,
  createFrameWriter,
  FRAME,
  splitHeaded,
} from '../../../lib/companion-client/channel/frames.ts';

interface Seen {
  type: number;
  call: number;
  payload: string;
}

/** Writes frames and gives the writes that reached the socket. */
async function written(
  write: (writer: ReturnType<typeof createFrameWriter>) => void,
  isAlone = () => false,
): Promise<Buffer[]> {
  const writes: Buffer[] = [];
  const socket = {
    destroyed: false,
    write: (bytes: Uint8Array | string) => writes.push(Buffer.from(bytes as Uint8Array)) > 0,
  };
  write(createFrameWriter(socket, isAlone));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  return writes;
}

function read(chunks: Buffer[]): Seen[] {
  const seen: Seen[] = [];
  const take = createFrameReader((type, call, payload) => {
    seen.push({ type, call, payload: payload.toString('latin1') });
  });
  for (const chunk of chunks) take(chunk);
  return seen;
}

const three = (writer: ReturnType<typeof createFrameWriter>) => {
  writer.write(FRAME.data, 7, Buffer.from('some data'));
  writer.write(FRAME.end, 7);
  writer.write(FRAME.abort, 4_294_967_295);
};

const THREE: Seen[] = [
  { type: FRAME.data, call: 7, payload: 'some data' },
  { type: FRAME.end, call: 7, payload: '' },
  { type: FRAME.abort, call: 4_294_967_295, payload: '' },
];

test('frames of one turn leave in one write', async () => {
  const writes = await written(three);
  expect(writes).toHaveLength(1);
  expect(read(writes)).toEqual(THREE);
});

test('a frame that nothing can join leaves at once', async () => {
  let others = 0;
  const writes = await written(
    (writer) => {
      writer.write(FRAME.data, 1, Buffer.from('alone'));
      others = 1;
      writer.write(FRAME.data, 2, Buffer.from('with'));
      writer.write(FRAME.data, 3, Buffer.from('company'));
    },
    () => others === 0,
  );
  expect(writes.map((bytes) => read([bytes]).map(({ payload }) => payload))).toEqual([
    ['alone'],
    ['with', 'company'],
  ]);
});

test('frames are whole however their bytes were cut', async () => {
  const bytes = Buffer.concat(await written(three));
  for (let cut = 1; cut < bytes.length; cut += 1) {
    expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(THREE);
  }
  expect(read(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(THREE);
});

test('large payloads keep their place among small ones', async () => {
  const sizes = [1, 16_383, 16_384, 300_000, 0, 5, 262_144, 2];
  const writes = await written((writer) => {
    for (const [call, size] of sizes.entries()) writer.write(FRAME.data, call, Buffer.alloc(size, call));
  });
  const seen = read(writes);
  expect(seen.map(({ call, payload }) => [call, payload.length])).toEqual([...sizes.entries()]);
  for (const { call, payload } of seen)
    expect(Buffer.from(payload, 'latin1').equals(Buffer.alloc(payload.length, call))).toBe(true);
});

test('a head and a body after it come apart again, whatever characters the head has', async () => {
  const head = ['POST', '/v1/ü', 'x-name', '"quoted" ✓'];
  for (const size of [0, 10, 100_000]) {
    const body = Buffer.alloc(size, 'b');
    const bytes = Buffer.concat(
      await written((writer) => writer.writeHeaded(FRAME.call, 1, JSON.stringify(head), body)),
    );
    const payloads: Buffer[] = [];
    createFrameReader((_type, _call, payload) => payloads.push(payload))(bytes);
    expect(splitHeaded(payloads[0] as Buffer)).toEqual({ head, body });
  }
});

test('a frame longer than any of ours is refused before it is gathered', () => {
  const bytes = Buffer.alloc(9, 0xff);
  expect(() => createFrameReader(() => {})(bytes)).toThrow('bytes');
});
