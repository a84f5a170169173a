import { createYoungCollection } from '../process/young-collection.ts';

/** Where the bytes of a file part go. A rejection ends the form with that error. */
export interface FileSink {
  write(chunks: readonly Buffer[]): Promise<void>;
  /** The part is whole. */
  end(): void | Promise<void>;
}

/** A file part on its way into its sink. */
export interface FormFile {
  take(chunk: Buffer): void;
  /** The part is whole. */
  end(): void;
  /** No more will come: `done` rejects with this, unless the part is whole. */
  cut(error: unknown): void;
  /** The disk is behind: the caller should be slowed down until `onRoom`. */
  readonly isFull: boolean;
  /** Resolves when everything is in the sink. */
  readonly done: Promise<void>;
}

export interface FormFileOptions {
  /** Bytes. */
  maxSize: number;
  /** More have come. */
  onTooLarge(): void;
  /** Bytes have reached the sink. */
  onWritten(): void;
  /** It is full no more. */
  onRoom(): void;
}

/** Bytes that are gathered for one write: each costs a turn of the thread pool. */
const BATCH_SIZE = 512 * 1024;
/** Bytes that may wait for the disk; few, because what waits while V8 collects counts as old from then on. */
const MOST_WAITING = 1024 * 1024;

/** Writes a file part to its sink, many chunks at once. */
export function createFormFile(sink: FileSink, options: FormFileOptions): FormFile {
  const { maxSize, onTooLarge, onWritten, onRoom } = options;
  const collectYoung = createYoungCollection();
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let size = 0;
  let isWriting = false;
  let isScheduled = false;
  let hasEnded = false;
  let hasFailed = false;
  let settle: { resolve(): void; reject(error: unknown): void };
  const done = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });

  const isFull = () => waitingBytes >= MOST_WAITING;

  async function write(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      const wasFull = isFull();
      waiting = [];
      waitingBytes = 0;
      if (wasFull) onRoom();
      await sink.write(batch);
      onWritten();
    }
    isWriting = false;
    if (!hasEnded) return;
    await sink.end();
    settle.resolve();
  }

  function start(): void {
    if (!isWriting && !hasFailed) write().catch(fail);
  }

  function fail(error: unknown): void {
    hasFailed = true;
    waiting = [];
    settle.reject(error);
  }

  return {
    take(chunk) {
      if (hasFailed) return;
      size += chunk.length;
      collectYoung(chunk.length);
      if (size > maxSize) {
        onTooLarge();
        return;
      }
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes >= BATCH_SIZE) start();
      else if (!isScheduled) {
        // What else this turn of the event loop brings goes into the same write.
        isScheduled = true;
        setImmediate(() => {
          isScheduled = false;
          start();
        });
      }
    },
    end() {
      hasEnded = true;
      start();
    },
    cut(error) {
      if (!hasEnded) fail(error);
    },
    get isFull() {
      return isFull();
    },
    done,
  };
}

/** A sink that is opened by its first byte; without one there was no file. */
export function lazySink(open: () => FileSink): FileSink {
  let sink: FileSink | undefined;
  return {
    async write(chunks) {
      sink ??= open();
      await sink.write(chunks);
    },
    async end() {
      await sink?.end();
    },
  };
}
