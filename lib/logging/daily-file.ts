import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import { mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogType } from '../config/schema/logging.ts';
import { countLines, type LineOutput } from './console-output.ts';
import { dayOf, expired, fileName, lastPart, type Retention } from './file-names.ts';
import { FILE_MODE, type OpenLogFile, openLogFile } from './open-log-file.ts';
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

const BATCH = 65_536;
const MOST_WAITING = 8 * 1024 * 1024;
/** How often an open file is looked for under its name. */
const LOOK_EVERY_MS = 1000;
const DIRECTORY_MODE = 0o750;

/**
 * The files of one log type: one a UTC day, in parts of at most `maxBytes`. Written in batches by the thread
 * pool, one write at a time. A full disk, a removed directory or a file rotated away by somebody else cost
 * records at most, never a request.
 */
export function createDailyFile(deps: DailyFileDeps): LineOutput {
  const { directory, type, maxBytes = Number.POSITIVE_INFINITY, retention, now, flushAfterMs } = deps;
  let file: OpenLogFile | undefined;
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
    const closing = file;
    file = undefined;
    await closing?.close();
  }

  /** Opens the given or the last part of a day, and lets retention do its work. */
  async function openPart(wanted: string, part?: number): Promise<OpenLogFile> {
    await closeFile();
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    const names = await readdir(directory);
    const number = part ?? lastPart(names, type, wanted);
    const name = fileName({ type, day: wanted, part: number });
    file = await openLogFile(join(directory, name), wanted, number);
    lookAt = now() + LOOK_EVERY_MS;
    for (const old of expired(names, retention, today())) {
      await unlink(join(directory, old)).catch(() => {});
    }
    return file;
  }

  async function isStillThere(current: OpenLogFile): Promise<boolean> {
    if (now() < lookAt && now() > lookAt - 2 * LOOK_EVERY_MS) return true;
    lookAt = now() + LOOK_EVERY_MS;
    return current.isStillThere();
  }

  async function fileOf(wanted: string): Promise<OpenLogFile> {
    if (file?.day === wanted && (await isStillThere(file))) return file;
    return openPart(wanted);
  }

  /** Writes a batch over as many parts as it takes. On failure what did not get there stays in `rest`. */
  async function writeBatch(current: Batch): Promise<void> {
    while (current.rest.length > 0) {
      let target = await fileOf(current.day);
      if (target.size > 0 && target.size + firstLine(current.rest) > maxBytes) {
        target = await openPart(current.day, target.part + 1);
      }
      current.flying = fitting(current.rest, maxBytes - target.size);
      const { kept, error } = await target.append(current.rest.subarray(0, current.flying));
      current.flying = 0;
      current.rest = current.rest.subarray(kept);
      if (error !== undefined) throw error;
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
