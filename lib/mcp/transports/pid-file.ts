import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endGroup, signalGroup } from './process-group.ts';

/** Records which process groups this hub has started, so that a later start can end what a killed hub left. */
export interface PidFile {
  add(pid: number): void;
  remove(pid: number): void;
  /** Ends the groups of owners that are gone; resolves with how many. */
  reap(): Promise<number>;
  /** Deletes the file of this process. */
  close(): void;
}

interface Recorded {
  pid: number;
  /** Start time in the system's own words: a process id alone may belong to somebody else by now. */
  started: string;
}

/** Content of one file. */
interface Leftovers {
  /** Identifies the boot of the machine, where the system tells: process ids mean nothing after another one. */
  boot: string;
  owner: Recorded;
  groups: Recorded[];
}

export interface PidFileDeps {
  /** A folder of this user; made with mode 0700. */
  directory: string;
  graceMs: number;
  /** Says once why leftovers cannot be recorded. */
  warn(message: string): void;
}

/** One file a hub process, named by its id; hubs that share the folder leave each other's children alone. */
export function createPidFile({ directory, graceMs, warn }: PidFileDeps): PidFile {
  const file = join(directory, `${process.pid}.json`);
  const owner = { pid: process.pid, started: startTime(process.pid) ?? '' };
  const groups = new Map<number, Recorded>();
  let usable: boolean | undefined;

  function prepare(): boolean {
    if (usable !== undefined) return usable;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const stat = lstatSync(directory);
      // In a shared folder such as /tmp a stranger could plant lists of processes for us to end.
      usable = stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
      if (!usable) warn(`${directory} is not a private folder: leftover tool servers will not be ended`);
    } catch (error) {
      usable = false;
      warn(`leftover tool servers cannot be recorded: ${String(error)}`);
    }
    return usable;
  }

  function write(): void {
    if (!prepare()) return;
    try {
      const content: Leftovers = { boot: bootId(), owner, groups: [...groups.values()] };
      writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    } catch (error) {
      usable = false;
      warn(`leftover tool servers cannot be recorded: ${String(error)}`);
    }
  }

  async function reapFile(name: string): Promise<number> {
    const path = join(directory, name);
    const record = read(path);
    if (record !== undefined && isAlive(record.owner) && record.owner.pid !== process.pid) return 0;
    rmSync(path, { force: true });
    const left = (record?.groups ?? []).filter(isGroupAlive);
    await Promise.all(left.map((group) => endGroup(group.pid, graceMs)));
    return left.length;
  }

  return {
    add(pid) {
      const started = startTime(pid);
      if (started === undefined) return;
      groups.set(pid, { pid, started });
      write();
    },
    remove(pid) {
      if (groups.delete(pid)) write();
    },
    async reap() {
      if (!prepare()) return 0;
      const names = readdirSync(directory).filter((name) => /^\d+\.json$/.test(name));
      const counts = await Promise.all(names.map(reapFile));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    close() {
      if (usable) rmSync(file, { force: true });
    },
  };
}

function read(path: string): Leftovers | undefined {
  try {
    const record: Leftovers = JSON.parse(readFileSync(path, 'utf8'));
    if (record.boot !== bootId()) return undefined;
    const recorded = [record.owner, ...record.groups];
    return recorded.every(({ pid, started }) => Number.isInteger(pid) && pid > 1 && started)
      ? record
      : undefined;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, started }: Recorded): boolean {
  return startTime(pid) === started;
}

/**
 * A group whose leader has died lives on in its members, and its number is not given out again while it does;
 * a leader with another start time is a stranger.
 */
function isGroupAlive(group: Recorded): boolean {
  const started = startTime(group.pid);
  return started === undefined ? signalGroup(group.pid, 0) : started === group.started;
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** When a process started, as an opaque text, or undefined when there is none. */
function startTime(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') {
      // Field 22 of stat; the second one is a name in brackets that may hold spaces.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // A zombie has ended; nobody has asked for its exit yet.
      return fields[0] === 'Z' ? undefined : fields[19];
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}
