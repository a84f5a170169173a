import { type FileHandle, open } from 'node:fs/promises';

/** A file in transit: it may be read while it is still being written. */
export interface SpoolFile {
  readonly path: string;
  /** Bytes that may be read. */
  readonly size: number;
  /** Whether no more will come. */
  readonly isComplete: boolean;
  /** Appends. @throws the file system's error */
  append(chunks: readonly Buffer[]): Promise<void>;
  /** No more will come. */
  complete(): void;
  /** Resolves once `end` bytes are there, or no more will come. Rejects with the signal's reason. */
  until(end: number, signal: AbortSignal): Promise<void>;
  /** Makes what was written outlast a power failure. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Creates an empty spool file of mode 0600. */
export async function createSpoolFile(path: string): Promise<SpoolFile> {
  return spoolFile(path, await open(path, 'wx', 0o600), 0, false);
}

/** Opens a spool file that was received whole. */
export async function openSpoolFile(path: string): Promise<SpoolFile> {
  const file = await open(path, 'r');
  try {
    return spoolFile(path, file, (await file.stat()).size, true);
  } catch (error) {
    await file.close();
    throw error;
  }
}

function spoolFile(
  path: string,
  file: FileHandle,
  initialSize: number,
  initiallyComplete: boolean,
): SpoolFile {
  let size = initialSize;
  let isComplete = initiallyComplete;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of [...waiting]) look();
  };

  return {
    path,
    get size() {
      return size;
    },
    get isComplete() {
      return isComplete;
    },
    async append(chunks) {
      let rest = [...chunks];
      while (rest.length > 0) {
        const { bytesWritten } = await file.writev(rest, size);
        size += bytesWritten;
        rest = without(rest, bytesWritten);
      }
      wake();
    },
    complete() {
      isComplete = true;
      wake();
    },
    until(end, signal) {
      return new Promise((resolve, reject) => {
        const settle = (finish: () => void) => {
          waiting.delete(look);
          signal.removeEventListener('abort', leave);
          finish();
        };
        const look = () => {
          if (size >= end || isComplete) settle(resolve);
        };
        const leave = () => settle(() => reject(signal.reason));
        if (signal.aborted) {
          leave();
          return;
        }
        signal.addEventListener('abort', leave, { once: true });
        waiting.add(look);
        look();
      });
    },
    sync: () => file.datasync(),
    close: () => file.close(),
  };
}

/** What is left of `chunks` after their first `count` bytes. */
function without(chunks: Buffer[], count: number): Buffer[] {
  let left = count;
  let index = 0;
  for (; index < chunks.length; index += 1) {
    const { length } = chunks[index] as Buffer;
    if (left < length) break;
    left -= length;
  }
  const rest = chunks.slice(index);
  if (left > 0) rest[0] = (rest[0] as Buffer).subarray(left);
  return rest;
}
