import { type ChildProcess, spawn } from 'node:child_process';
import type { FromCompanion, PrivateSockets, ToCompanion } from '../lib/companion-client/process-messages.ts';
import type { CompanionStatus } from '../lib/companion-client/protocol.ts';
import type { LoadedConfig } from '../lib/config/loaded.ts';
import type { Logger } from '../lib/logging/logger.ts';
import { StartFault } from '../lib/process/start-fault.ts';
import { createBackoff } from './backoff.ts';
import { startHeartbeat } from './heartbeat.ts';
import { splitLines } from './split-lines.ts';

export interface CompanionProcessDeps {
  /** Path of the bundled `companion.mjs`. */
  entry: string;
  loaded: LoadedConfig;
  token: string;
  /** Private sockets of the calls; null makes the gateway call by the port. */
  sockets: PrivateSockets | null;
  /** Address of AI-Link's internal port. */
  host: string;
  port: number;
  logger: Logger;
  /** Called with each line that the companion writes; `stderr` lines are not records. */
  onLine(stream: 'stdout' | 'stderr', line: string): void;
  /** Called each time it listens. */
  onReady(address: { host: string; port: number }): void;
  timing?: Partial<CompanionTiming>;
}

/** All in milliseconds. */
export interface CompanionTiming {
  /** Time in which it must listen, or it is killed and started again. */
  startTimeout: number;
  heartbeatEvery: number;
  /** Heartbeats that may go unanswered before the companion is taken for hung. */
  heartbeatsMissed: number;
  firstBackoff: number;
  longestBackoff: number;
  /** A companion that was up for so long starts anew with `firstBackoff`. */
  steadyAfter: number;
  /** Time beyond its last calls in which a companion told to stop may end its tool servers. */
  endMargin: number;
}

const DEFAULT_TIMING: CompanionTiming = {
  startTimeout: 30_000,
  heartbeatEvery: 2000,
  heartbeatsMissed: 5,
  firstBackoff: 100,
  longestBackoff: 5000,
  steadyAfter: 30_000,
  endMargin: 3000,
};

export interface CompanionProcess {
  /**
   * Spawns it and keeps it running. Resolves when it listens for the first time, at the latest after
   * `longestWaitMs`: then it goes on trying by itself.
   * @throws StartFault when it says that it cannot start (its port is in use, for example).
   */
  start(longestWaitMs: number): Promise<void>;
  status(): CompanionStatus;
  /** Tells it that the gateway drains, so that it leaves signals to the gateway. */
  announceStop(): void;
  /** Lets it finish its calls and end; kills it when `timeoutMs` is over. Resolves when it is gone. */
  stop(timeoutMs: number): Promise<void>;
}

/** Runs the companion as a child process and starts it again, with backoff, whenever it has gone. */
export function createCompanionProcess(deps: CompanionProcessDeps): CompanionProcess {
  const { logger } = deps;
  const timing = { ...DEFAULT_TIMING, ...deps.timing };
  const backoff = createBackoff({ first: timing.firstBackoff, longest: timing.longestBackoff });
  let child: ChildProcess | undefined;
  let retry: NodeJS.Timeout | undefined;
  let stopping = false;
  let fatal: string | undefined;
  let current: CompanionStatus = {
    status: 'starting',
    pid: null,
    restarts: 0,
    since: new Date().toISOString(),
    nextRetryAt: null,
  };
  let firstReady: (() => void) | undefined;
  let firstFailed: ((fault: StartFault) => void) | undefined;

  function enter(change: Partial<CompanionStatus>): void {
    const changed = change.status !== undefined && change.status !== current.status;
    current = { ...current, ...change, since: changed ? new Date().toISOString() : current.since };
  }

  function launch(): void {
    retry = undefined;
    fatal = undefined;
    const started = spawn(process.execPath, ['--enable-source-maps', deps.entry, '--supervised'], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = started;
    enter({ nextRetryAt: null });
    let heartbeat: ReturnType<typeof startHeartbeat> | undefined;
    let upSince: number | undefined;
    const endFrozen = (message: string) => {
      logger.error(message, { pid: started.pid });
      started.kill('SIGKILL');
    };
    const tooLong = setTimeout(() => endFrozen('AI-Link does not start and is killed'), timing.startTimeout);
    tooLong.unref();

    started.on('message', (message: FromCompanion) => {
      if (message.type === 'pong') heartbeat?.answered();
      else if (message.type === 'fatal') fatal = message.message;
      else if (message.type === 'leaving') enter({ status: 'down' });
      else if (message.type === 'ready') {
        clearTimeout(tooLong);
        heartbeat = startHeartbeat({
          every: timing.heartbeatEvery,
          missed: timing.heartbeatsMissed,
          beat: () => tell(started, { type: 'ping' }),
          onSilence: () => endFrozen('AI-Link hangs and is killed'),
        });
        upSince = performance.now();
        enter({ status: 'up', pid: started.pid ?? null });
        deps.onReady({ host: message.host, port: message.port });
        firstReady?.();
      }
    });
    if (started.stdout) splitLines(started.stdout, (line) => deps.onLine('stdout', line));
    if (started.stderr) splitLines(started.stderr, (line) => deps.onLine('stderr', line));

    let over = false;
    const onGone = (reason: Record<string, unknown>) => {
      if (over) return;
      over = true;
      clearTimeout(tooLong);
      heartbeat?.end();
      if (child === started) child = undefined;
      if (upSince !== undefined && performance.now() - upSince > timing.steadyAfter) backoff.reset();
      onExit(started.pid, reason);
    };
    started.once('error', (error) => onGone({ cause: error.message }));
    started.once('exit', (code, signal) => onGone({ code, signal }));
    tell(started, {
      type: 'start',
      loaded: deps.loaded,
      token: deps.token,
      sockets: deps.sockets,
      host: deps.host,
      port: deps.port,
    });
  }

  function onExit(pid: number | undefined, reason: Record<string, unknown>): void {
    enter({ status: 'down', pid: null });
    if (stopping) return;
    if (fatal !== undefined && firstFailed !== undefined) {
      firstFailed(new StartFault(fatal));
      return;
    }
    const delay = backoff.next();
    logger.error('AI-Link has ended and is started again', {
      pid,
      ...reason,
      cause: fatal,
      retryInMs: delay,
    });
    enter({ nextRetryAt: new Date(Date.now() + delay).toISOString(), restarts: current.restarts + 1 });
    retry = setTimeout(launch, delay);
  }

  function start(longestWaitMs: number): Promise<void> {
    let patience: NodeJS.Timeout | undefined;
    return new Promise<void>((resolve, reject) => {
      firstReady = resolve;
      firstFailed = reject;
      patience = setTimeout(resolve, longestWaitMs);
      launch();
    }).finally(() => {
      clearTimeout(patience);
      firstReady = undefined;
      firstFailed = undefined;
    });
  }

  function announceStop(): void {
    stopping = true;
    clearTimeout(retry);
    if (child) tell(child, { type: 'stopping' });
  }

  function stop(timeoutMs: number): Promise<void> {
    announceStop();
    const ending = child;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null)
      return Promise.resolve();
    return new Promise((resolve) => {
      const killer = setTimeout(() => ending.kill('SIGKILL'), timeoutMs + timing.endMargin);
      // `close`, not `exit`: its last log lines are still in the pipe.
      ending.once('close', () => {
        clearTimeout(killer);
        resolve();
      });
      tell(ending, { type: 'stop', timeoutMs });
    });
  }

  return { start, status: () => current, announceStop, stop };
}

function tell(child: ChildProcess, message: ToCompanion): void {
  // A child that has just gone is noticed by its exit, not here.
  if (child.connected) child.send(message, () => {});
}
