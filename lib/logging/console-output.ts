import { writeSync } from 'node:fs';
import { isErrnoException } from './errno.ts';
import { createTrouble } from './trouble.ts';

/** Lines gathered and written together. */
export interface LineOutput {
  /** Takes a line without its line end. Never blocks, never throws. */
  append(line: string): void;
  /** Writes what is left, at exit: nothing asynchronous may follow. */
  flushSync(): void;
  /** Writes what is left. Never rejects. */
  close(): Promise<void>;
  /** Records lost since the start. */
  lost(): number;
}

export interface ConsoleOutputDeps {
  /** A file descriptor that does not block, such as that of `process.stdout`. */
  fd: number;
  now: () => number;
  /** Milliseconds that a line may wait for others; 0 writes each at once. */
  flushAfterMs: number;
  /** Where to warn when this output fails. */
  report: (message: string) => void;
  /** Milliseconds between two tries after a failure. */
  retryAfterMs: number;
}

/** Characters gathered before they are written without waiting longer. */
const BATCH = 65_536;
/** Bytes kept for a reader that does not read; past them records are dropped. */
const MOST_WAITING = 4 * 1024 * 1024;
/** Wait before a full pipe is tried again. */
const FULL_PIPE_WAIT_MS = 10;
/** How long the end of the process may be held up by a reader that is slow. */
const LAST_FLUSH_MS = 500;

/**
 * Batched lines on a file descriptor by `writeSync`, which tells exactly how much a full pipe took: so nothing
 * is written twice or lost at exit, and a reader that stands still stops nobody.
 */
export function createConsoleOutput(deps: ConsoleOutputDeps): LineOutput {
  const { fd, now, flushAfterMs, report, retryAfterMs } = deps;
  const trouble = createTrouble({ name: () => 'standard output', now, report, retryAfterMs });
  let text = '';
  let waiting = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;

  const later = (ms: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      flush();
    }, ms).unref();
  };

  /** Writes what the reader takes. True when everything is out (or given up). */
  function flush(): boolean {
    if (waiting.length === 0 && text === '') return true;
    try {
      while (waiting.length > 0 || text !== '') {
        if (waiting.length === 0) {
          waiting = Buffer.from(text);
          text = '';
        }
        waiting = waiting.subarray(writeSync(fd, waiting));
      }
      trouble.worked();
    } catch (error) {
      if (isErrnoException(error) && error.code === 'EAGAIN') {
        later(FULL_PIPE_WAIT_MS);
        return false;
      }
      trouble.failed(error, countLines(waiting) + countLines(Buffer.from(text)));
      waiting = Buffer.alloc(0);
      text = '';
    }
    return true;
  }

  /** Waits, asleep, for a slow reader: only for the end of the process. */
  function flushSync(): void {
    clearTimeout(timer);
    timer = undefined;
    for (let slept = 0; !flush() && slept < LAST_FLUSH_MS; slept += FULL_PIPE_WAIT_MS) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_WAIT_MS);
    }
    clearTimeout(timer);
  }

  return {
    append(line) {
      if (trouble.blocked() || waiting.length + text.length > MOST_WAITING) {
        trouble.dropped(1);
        return;
      }
      text += `${line}\n`;
      // While a full pipe is waited for, its own timer decides.
      if (flushAfterMs === 0 || (text.length >= BATCH && waiting.length === 0)) flush();
      else later(flushAfterMs);
    },
    flushSync,
    async close() {
      const deadline = performance.now() + LAST_FLUSH_MS;
      while (!flush() && performance.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, FULL_PIPE_WAIT_MS));
      }
      clearTimeout(timer);
      timer = undefined;
    },
    lost: () => trouble.lost,
  };
}

/** Number of line ends in `bytes`. */
export function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
  return lines;
}
