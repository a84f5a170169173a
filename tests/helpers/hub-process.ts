import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './until.ts';

/** Root of the repository. */
export const root = join(import.meta.dirname, '../..');

/** The admin key of `defaultConfig`. */
export const ADMIN_KEY = 'test-admin-key-0123456789-0123456789';

/** A small hub: the echo target and admin, no main authentication. */
export const defaultConfig = {
  targets: [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }],
  auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
};

export interface HubOptions {
  /** What `scripts/run.mjs` starts. */
  command?: 'hub' | 'gateway' | 'companion' | 'offline' | 'check' | 'setup' | 'docs';
  args?: readonly string[];
  /** Text of config.yaml, or an object written as JSON (which is YAML). Default: `defaultConfig`. */
  config?: string | object;
  /** Beside PATH, HOME and TMPDIR, the only variables that the hub sees; `undefined` takes a default out. */
  env?: Record<string, string | undefined>;
  /** Working directory; default a temporary one that `stop` removes. */
  cwd?: string;
  /** How long the ready lines may take, in ms. */
  readyTimeoutMs?: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A running hub. */
export interface HubProcess {
  /** Base address of the API, without a slash at the end; empty for `companion`. */
  url: string;
  /** Base address of AI-Link; empty for `gateway`. */
  ailinkUrl: string;
  pid: number;
  cwd: string;
  configPath: string;
  stdout(): string;
  stderr(): string;
  /** The JSON records among the lines of stdout and stderr. */
  // biome-ignore lint/suspicious/noExplicitAny: records differ by type; tests look into what they test
  logs(): any[];
  /** This process and everything that descends from it now. */
  pids(): number[];
  /** Settles when the process has ended. */
  exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
  /**
   * Ends it with `signal`, and after `timeoutMs`, or with SIGKILL at once, everything that descends from it;
   * removes the temporary directory.
   */
  stop(signal?: NodeJS.Signals, timeoutMs?: number): Promise<Exit>;
}

const running = new Set<Started>();
/** Working directories that are made here and not removed yet. */
const directories = new Set<string>();
let leash: ChildProcess | undefined;

function tellLeash(line: string): void {
  if (leash === undefined) {
    leash = spawn(process.execPath, [join(import.meta.dirname, 'leash.mjs')], {
      stdio: ['pipe', 'ignore', 'inherit'],
      detached: true,
    });
    leash.unref();
    (leash.stdin as unknown as { unref(): void }).unref();
  }
  leash.stdin?.write(`${line}\n`);
}

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hub-test-'));
  directories.add(directory);
  tellLeash(directory);
  return directory;
}

function removeDirectory(directory: string): void {
  if (directories.delete(directory)) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
}

interface Started extends Omit<HubProcess, 'url' | 'ailinkUrl'> {
  command: string;
}

function start(options: HubOptions): Started {
  const { command = 'hub', args = [], config = defaultConfig, env = {} } = options;
  const cwd = options.cwd ?? makeDirectory();
  const configPath = join(cwd, 'config.yaml');
  writeFileSync(configPath, typeof config === 'string' ? config : JSON.stringify(config, null, 2));
  const child = spawn(process.execPath, [join(root, 'scripts/run.mjs'), command, ...args], {
    cwd,
    // A group of its own, so that the leash can end it with everything in it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      // What a killed hub leaves in there goes with its working directory.
      TMPDIR: cwd,
      HUB_PORT: '0',
      AILINK_PORT: '0',
      HUB_CONFIG: configPath,
      ...env,
    },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${command}`);
  tellLeash(`+${pid}`);
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const closed = once(child, 'close');
  const exited = once(child, 'exit').then(async ([code, signal]): Promise<Exit> => {
    running.delete(started);
    tellLeash(`-${pid}`);
    // An orphan that inherited the pipes must not hold up the tests; what is in the pipes is there at once.
    const impatient = new AbortController();
    const pause = sleep(500, undefined, { signal: impatient.signal }).catch(() => {});
    await Promise.race([closed, pause]);
    impatient.abort();
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const started: Started = {
    command,
    pid,
    cwd,
    configPath,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    logs: () => jsonLines(`${output.stdout}\n${output.stderr}`),
    pids: () => descendants(pid),
    exited,
    kill: (signal) => void child.kill(signal),
    async stop(signal = 'SIGTERM', timeoutMs = 10_000) {
      const family = descendants(pid);
      const endAll = () => family.forEach(killNow);
      if (signal === 'SIGKILL') endAll();
      else child.kill(signal);
      const stubborn = setTimeout(endAll, timeoutMs);
      try {
        return await exited;
      } finally {
        clearTimeout(stubborn);
        removeDirectory(cwd);
      }
    },
  };
  running.add(started);
  return started;
}

/** Starts the hub as a user does and resolves when its ready lines are there. Rejects with its output when it ends. */
export async function startHubProcess(options: HubOptions = {}): Promise<HubProcess> {
  const started = start(options);
  const address = (name: string) =>
    new RegExp(`^${name} listening on (\\S+)$`, 'm').exec(started.stdout())?.[1];
  let ended: Exit | undefined;
  void started.exited.then((exit) => {
    ended = exit;
  });
  const spawnsNone = options.env?.AILINK_URL !== undefined;
  const needed = { gateway: ['hub'], companion: ['ai-link'] }[started.command] ?? [
    'hub',
    ...(spawnsNone ? [] : ['ai-link']),
  ];
  try {
    await until('the ready lines', () => ended ?? needed.every((name) => address(name) !== undefined), {
      timeoutMs: options.readyTimeoutMs ?? 45_000,
    });
    if (ended !== undefined) throw new Error(`it ended with code ${ended.code}`);
  } catch (error) {
    await started.stop('SIGKILL');
    const output = `${started.stdout()}${started.stderr()}`;
    throw new Error(`the ${started.command} did not start: ${(error as Error).message}\n${output}`);
  }
  return { ...started, url: address('hub') ?? '', ailinkUrl: address('ai-link') ?? '' };
}

/** Runs something that ends by itself (a faulty start, `check`, `setup`) and gives what it printed. */
export async function runHubProcess(
  options: HubOptions & { timeoutMs?: number },
): Promise<Exit & { stdout: string; stderr: string }> {
  const started = start(options);
  const tooLong = setTimeout(() => started.pids().forEach(killNow), options.timeoutMs ?? 45_000);
  const exit = await started.exited;
  clearTimeout(tooLong);
  removeDirectory(started.cwd);
  return { ...exit, stdout: started.stdout(), stderr: started.stderr() };
}

/** Ends every hub that this test process started and that still runs, and removes what they all leave. */
export async function stopAllHubs(): Promise<void> {
  await Promise.all([...running].map((hub) => hub.stop('SIGKILL')));
  // Of those that ended by themselves.
  directories.forEach(removeDirectory);
  // A process of jest runs many test files, and would keep the leash of each until its own end.
  leash?.stdin?.end();
  leash = undefined;
}

/** Whether a process of this id runs (a zombie does not). */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It ended while we looked.
    }
  }
  const family = (one: number): number[] => [one, ...(children.get(one) ?? []).flatMap(family)];
  return family(pid).filter(isAlive);
}

function jsonLines(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return [];
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}
