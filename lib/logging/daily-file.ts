import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogType } from '../config/schema/logging.ts';
import { countLines, type LineOutput } from './console-output.ts';
import { dayOf, expired, fileName, lastPart, type Retention } from './file-names.ts';
import { createTrouble } from './trouble.ts';

export interface DailyFileDeps {
  directory: string;
  type: LogType;
  /** Bytes after which a further part begins; undefined keeps one file a day. */
  maxBytes: number | undefined;
  retention: Retention;
  /** Milliseconds since the epoch. */
  now: () => number;
  flushAfterMs: number;
  report: (message: string) => void;
  retryAfterMs: number;
}

/** Lines of one day, waiting to be written. */
interface Segment {
  day: string;
  text: string;
}

/** What is being written. */
interface Batch {
  day: string;
  /** Bytes that are not known to be in the file. */
  rest: Buffer;
  /** How many of them the system has been given already. */
  flying: number;
}

interface OpenFile {
  handle: FileHandle;
  path: string;
  day: string;
  part: number;
  /** Bytes in it up to the end of its last whole line. */
  size: number;
  /** Identity on disk, to notice that the name now belongs to another file, or to none. */
  dev: number;
  ino: number;
  isRegular: boolean;
}

const BATCH = 65_536;
const MOST_WAITING = 8 * 1024 * 1024;
/** How often an open file is looked for under its name. */
const LOOK_EVERY_MS = 1000;
/** Readable by the owner's group at most. */
const FILE_MODE = 0o640;
const DIRECTORY_MODE = 0o750;

/**
 * The files of one log type: one a UTC day, in parts of at most `maxBytes`. Written in batches by the thread
 * pool, one write at a time. A full disk, a removed directory or a file rotated away by somebody else cost
 * records at most, never a request.
 */
export function createDailyFile(deps: DailyFileDeps): LineOutput {
  const { directory, type, maxBytes = Number.POSITIVE_INFINITY, retention, now, flushAfterMs } = deps;
  let file: OpenFile | undefined;
  let segments: Segment[] = [];
  let batch: Batch | undefined;
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | undefined;
  let lookAt = 0;
  let day = '';
  let dayEnds = 0;

  const trouble = createTrouble({
    name: () => `log file ${join(directory, fileName({ type, day: dayOf(now()), part: file?.part ?? 0 }))}`,
    now,
    report: deps.report,
    retryAfterMs: deps.retryAfterMs,
  });

  /** Date of now; worked out once a day. A clock that is set back ends the day too. */
  function today(): string {
    const time = now();
    if (time >= dayEnds || time < dayEnds - 86_400_000) {
      day = dayOf(time);
      dayEnds = Date.parse(day) + 86_400_000;
    }
    return day;
  }

  async function closeFile(): Promise<void> {
    const { handle } = file ?? {};
    file = undefined;
    await handle?.close().catch(() => {});
  }

  /** Opens the given or the last part of a day, and lets retention do its work. */
  async function openPart(wanted: string, part?: number): Promise<OpenFile> {
    await closeFile();
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    const names = await readdir(directory);
    const number = part ?? lastPart(names, type, wanted);
    const path = join(directory, fileName({ type, day: wanted, part: number }));
    const handle = await open(path, 'a+', FILE_MODE);
    const facts = await handle.stat();
    file = {
      handle,
      path,
      day: wanted,
      part: number,
      size: facts.size,
      dev: facts.dev,
      ino: facts.ino,
      isRegular: facts.isFile(),
    };
    lookAt = now() + LOOK_EVERY_MS;
    // The end of a line that a crash cut short, so that it does not swallow the next.
    if (file.isRegular && file.size > 0) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, file.size - 1);
      if (bytesRead === 1 && buffer[0] !== 10) file.size += (await handle.write('\n')).bytesWritten;
    }
    for (const name of expired(names, retention, today())) {
      await unlink(join(directory, name)).catch(() => {});
    }
    return file;
  }

  async function isStillThere(current: OpenFile): Promise<boolean> {
    if (now() < lookAt && now() > lookAt - 2 * LOOK_EVERY_MS) return true;
    lookAt = now() + LOOK_EVERY_MS;
    const facts = await stat(current.path).catch(() => undefined);
    return facts?.ino === current.ino && facts.dev === current.dev;
  }

  async function fileOf(wanted: string): Promise<OpenFile> {
    if (file?.day === wanted && (await isStillThere(file))) return file;
    return openPart(wanted);
  }

  /**
   * Writes the first `length` bytes of `batch.rest` and takes them off it. On failure the file is cut back to
   * its last whole line, and what did not get there stays in `batch.rest`.
   */
  async function write(target: OpenFile, batch: Batch, length: number): Promise<void> {
    const bytes = batch.rest.subarray(0, length);
    let written = 0;
    batch.flying = length;
    try {
      while (written < length) written += (await target.handle.write(bytes, written)).bytesWritten;
    } finally {
      batch.flying = 0;
      const whole = written === length ? length : bytes.subarray(0, written).lastIndexOf(10) + 1;
      target.size += whole;
      batch.rest = batch.rest.subarray(whole);
      if (target.isRegular && written > whole) await target.handle.truncate(target.size).catch(() => {});
    }
  }

  async function writeBatch(batch: Batch): Promise<void> {
    while (batch.rest.length > 0) {
      let target = await fileOf(batch.day);
      if (target.size > 0 && target.size + firstLine(batch.rest) > maxBytes) {
        target = await openPart(batch.day, target.part + 1);
      }
      await write(target, batch, fitting(batch.rest, maxBytes - target.size));
    }
  }

  async function drain(): Promise<void> {
    for (let next = segments.shift(); next !== undefined; next = segments.shift()) {
      waiting -= next.text.length;
      batch = { day: next.day, rest: Buffer.from(next.text), flying: 0 };
      try {
        await writeBatch(batch);
        trouble.worked();
      } catch (error) {
        trouble.failed(error, countLines(batch.rest));
        await closeFile();
      }
      batch = undefined;
    }
  }

  /** The last words of a process go into the last part, whatever its size. */
  function writeAtExit(date: string, bytes: Buffer): void {
    if (bytes.length === 0) return;
    try {
      mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
      const part = lastPart(readdirSync(directory), type, date);
      const fd = openSync(join(directory, fileName({ type, day: date, part })), 'a', FILE_MODE);
      for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
      closeSync(fd);
    } catch (error) {
      trouble.failed(error, countLines(bytes));
    }
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (writing !== undefined) return;
    writing = drain().finally(() => {
      writing = undefined;
      if (segments.length > 0) schedule();
    });
  }

  function schedule(): void {
    timer ??= setTimeout(flush, flushAfterMs).unref();
  }

  return {
    append(line) {
      if (trouble.blocked() || waiting > MOST_WAITING) {
        trouble.dropped(1);
        return;
      }
      const date = today();
      let segment = segments.at(-1);
      if (segment?.day !== date) {
        segment = { day: date, text: '' };
        segments.push(segment);
      }
      segment.text += `${line}\n`;
      waiting += line.length + 1;
      if (waiting >= BATCH) flush();
      else schedule();
    },
    flushSync() {
      clearTimeout(timer);
      timer = undefined;
      // What the system has been given is written by the thread pool before the process is gone.
      if (batch !== undefined) writeAtExit(batch.day, batch.rest.subarray(batch.flying));
      for (const segment of segments) writeAtExit(segment.day, Buffer.from(segment.text));
      segments = [];
      waiting = 0;
    },
    async close() {
      do {
        flush();
        await writing;
      } while (segments.length > 0);
      clearTimeout(timer);
      timer = undefined;
      await closeFile();
    },
    lost: () => trouble.lost,
  };
}

/** Length of the first line, its end included. */
const firstLine = (bytes: Buffer): number => bytes.indexOf(10) + 1 || bytes.length;

/** How many bytes of whole lines fit into `space`; one line at least. */
function fitting(bytes: Buffer, space: number): number {
  if (bytes.length <= space) return bytes.length;
  const whole = space > 0 ? bytes.lastIndexOf(10, space - 1) + 1 : 0;
  return whole > 0 ? whole : firstLine(bytes);
}
