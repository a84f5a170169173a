import { open, stat } from 'node:fs/promises';

/** Readable by the owner's group at most. */
export const FILE_MODE = 0o640;

/** One open part of a log. */
export interface OpenLogFile {
  readonly day: string;
  readonly part: number;
  /** Bytes in it up to the end of its last whole line. */
  readonly size: number;
  /**
   * Appends whole lines. Never rejects: on failure the file is cut back to its last whole line.
   * @returns how many of the bytes are in the file, and what kept the others out
   */
  append(bytes: Buffer): Promise<{ kept: number; error?: unknown }>;
  /** Whether the file's name still belongs to it: it may have been rotated away or removed. */
  isStillThere(): Promise<boolean>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Opens a log file for appending, and ends a line that a crash cut short, so that it does not swallow the next. */
export async function openLogFile(path: string, day: string, part: number): Promise<OpenLogFile> {
  const handle = await open(path, 'a+', FILE_MODE);
  const facts = await handle.stat();
  const isRegular = facts.isFile();
  let size = facts.size;
  if (isRegular && size > 0) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    if (bytesRead === 1 && buffer[0] !== 10) size += (await handle.write('\n')).bytesWritten;
  }
  return {
    day,
    part,
    get size() {
      return size;
    },
    async append(bytes) {
      let written = 0;
      try {
        while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
        size += written;
        return { kept: written };
      } catch (error) {
        const kept = bytes.subarray(0, written).lastIndexOf(10) + 1;
        size += kept;
        if (isRegular && written > kept) await handle.truncate(size).catch(() => {});
        return { kept, error };
      }
    },
    async isStillThere() {
      const now = await stat(path).catch(() => undefined);
      return now?.ino === facts.ino && now.dev === facts.dev;
    },
    close: () => handle.close().catch(() => {}),
  };
}
