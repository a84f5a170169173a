import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, namesIn, writeFileAtomic } from './atomic-file.ts';
import { systemCodeOf } from './system-code.ts';

/** Exclusive use of something on a shared disk, by one process at a time. */
export interface Lease {
  /** Aborts when another process has taken the lease over. */
  readonly lost: AbortSignal;
  /** Gives it back, so that the next one need not wait for it to die. Never rejects. */
  release(): Promise<void>;
}

export interface LeaseOptions {
  /** Milliseconds between two signs of life; default 10,000. */
  heartbeatMs?: number;
  /** Milliseconds without one after which the holder counts as dead; default 30,000. */
  deadAfterMs?: number;
  /** Called with each sign of life. */
  onBeat?: () => void;
}

/** What stands in a lease: which process holds it, if it says. */
interface Holder {
  place?: string | undefined;
  pid?: number;
  startedAt?: string | undefined;
  isReleased?: boolean;
}

const HEARTBEAT_MS = 10_000;
const DEAD_AFTER_MS = 30_000;

/**
 * Takes the lease `name` in `directory`, or gives undefined while somebody alive holds it.
 *
 * A lease is a file `name.<generation>`. Taking it over creates the next generation, which the file system grants to
 * one process only; the newest generation is never deleted by anybody but whoever creates the next. So two that
 * find the same dead holder can never both win, as they could with a file that is deleted and created again.
 */
export async function takeLease(
  directory: string,
  name: string,
  options: LeaseOptions = {},
): Promise<Lease | undefined> {
  const { heartbeatMs = HEARTBEAT_MS, deadAfterMs = DEAD_AFTER_MS, onBeat } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const known = await generations(directory, name);
  const newest = known.at(-1);
  if (newest !== undefined && (await isAlive(fileOf(newest), deadAfterMs))) return undefined;
  const generation = (newest ?? 0) + 1;
  if (!(await createExclusively(fileOf(generation)))) return undefined;
  await Promise.all(known.map((old) => rm(fileOf(old), { force: true })));

  const lost = new AbortController();
  const beat = async () => {
    const current = (await generations(directory, name)).at(-1);
    if (current !== undefined && current !== generation) {
      lost.abort(new Error('another process has taken over'));
      clearInterval(beating);
      return;
    }
    const now = new Date();
    await utimes(fileOf(generation), now, now);
    onBeat?.();
  };
  const beating = setInterval(() => void beat().catch(() => {}), heartbeatMs);
  beating.unref();

  return {
    lost: lost.signal,
    async release() {
      clearInterval(beating);
      if (lost.signal.aborted) return;
      await writeFileAtomic(fileOf(generation), JSON.stringify({ isReleased: true })).catch(() => {});
    },
  };

  function fileOf(number: number): string {
    return join(directory, `${name}.${number}`);
  }
}

/** Whether a live process holds the lease. */
export async function isLeased(
  directory: string,
  name: string,
  options: LeaseOptions = {},
): Promise<boolean> {
  const newest = (await generations(directory, name)).at(-1);
  if (newest === undefined) return false;
  return isAlive(join(directory, `${name}.${newest}`), options.deadAfterMs ?? DEAD_AFTER_MS);
}

/** Generations of a lease that are there, the newest last. */
async function generations(directory: string, name: string): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await namesIn(directory)) {
    if (!entry.startsWith(`${name}.`)) continue;
    const text = entry.slice(name.length + 1);
    if (/^\d+$/.test(text)) found.push(Number(text));
  }
  return found.sort((a, b) => a - b);
}

async function createExclusively(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify({ place: PLACE, pid: process.pid, startedAt: OWN_START }));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

async function isAlive(path: string, deadAfterMs: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(path);
    const holder = parseHolder(await readFile(path, 'utf8'));
    if (holder.isReleased === true) return false;
    // A process of this very place need not be waited for: its end can be seen.
    if (PLACE !== undefined && holder.place === PLACE && holder.pid !== undefined) {
      return holder.startedAt !== undefined && startOf(holder.pid) === holder.startedAt;
    }
    return Date.now() - mtimeMs < deadAfterMs;
  } catch (error) {
    // Whoever took it over has just deleted it.
    if (isMissing(error)) return true;
    throw error;
  }
}

function parseHolder(text: string): Holder {
  try {
    return JSON.parse(text) as Holder;
  } catch {
    // Its writer is between creating and writing, or died there: only the time tells.
    return {};
  }
}

/** Where process ids mean the same: one run of one kernel, one namespace of it. Undefined where nothing tells. */
const PLACE = tried(
  () =>
    `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`,
);
const OWN_START = startOf(process.pid);

/** When a process started, in ticks of its kernel: tells it from a later one of the same id. */
function startOf(pid: number): string | undefined {
  return tried(() => {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  });
}

function tried<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
