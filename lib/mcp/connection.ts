import type { Logger } from '../logging/logger.ts';
import {
  type ConnectionEvent,
  type ConnectionState,
  type ConnectionTiming,
  INITIAL_STATE,
  isUp,
  transition,
} from './connection-state.ts';
import { ToolFailure, toToolFailure } from './failure.ts';
import { createFollowUp } from './follow-up.ts';
import type { ClientCapabilities, ServerIntroduction } from './handshake.ts';
import { createHeartbeat, type Heartbeat } from './heartbeat.ts';
import type { SchemaCompiler } from './input-schema.ts';
import { type OpenServer, openServer } from './open-server.ts';
import { operatorHint } from './operator-hints.ts';
import type { RpcClient } from './rpc-client.ts';
import type { StopSignal } from './stop-signal.ts';
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts';
import type { TransportFactory } from './transports/transport.ts';
import { createWaitingRoom } from './waiting-room.ts';

export interface ServerTiming extends ConnectionTiming {
  /** Quiet time after which a connection is pinged, and how long the answer may take. */
  pingEveryMs: number;
  pingBudgetMs: number;
  /** Age at which the tools of a server that announces no changes are read again by a listing. */
  relistAfterMs: number;
  /** A call waits for a retry that is due this soon; it fails at once when it is later. */
  retryPatienceMs: number;
}

export interface LastError {
  code: string;
  /** Masked. */
  message: string;
  at: string;
}

/** The connection to one tool server over all its attempts: connects, heals itself, and is closed once. */
export interface ServerConnection {
  state(): ConnectionState;
  /** The last complete listing, also while the server is down; undefined before the first one. */
  catalog(): ToolCatalog | undefined;
  lastError(): LastError | null;
  lastPingMs(): number | null;
  introduction(): ServerIntroduction | null;
  pid(): number | undefined;
  /** Connects a server that was never tried. */
  start(): void;
  /** The first attempt, started by this call if need be; undefined once it has ended, either way. */
  firstAttempt(): Promise<void> | undefined;
  /**
   * A client of the open connection. Waits for an attempt that runs or is due at once.
   * @throws ToolFailure at once when the server is down for longer.
   */
  acquire(signal: StopSignal): RpcClient | Promise<RpcClient>;
  /** Reads the tools again in the background, where the server does not say when they change and some time has passed. */
  refresh(): void;
  /** A call succeeded on the connection. */
  succeeded(): void;
  /** A call went unanswered: find out now whether the server still answers. */
  suspect(): void;
  close(): Promise<void>;
}

export interface ServerConnectionDeps {
  name: string;
  transport: TransportFactory;
  /** Milliseconds for opening, initialize and the full tool list together. */
  connectTimeout: number;
  /** Waits for permission to start an attempt; call the result when the attempt has ended. */
  gate(): Promise<() => void>;
  compiler: SchemaCompiler;
  timing: ServerTiming;
  log: Logger;
  mask(text: string): string;
  version: string;
  capabilities: ClientCapabilities;
  /** A new listing has come. */
  changed(): void;
  now?(): number;
  random?(): number;
}

export function createServerConnection(deps: ServerConnectionDeps): ServerConnection {
  const { name, timing, log, mask, now = Date.now, random = Math.random } = deps;
  let state = INITIAL_STATE;
  let current: OpenServer | undefined;
  let catalog: ToolCatalog | undefined;
  let listedAt = 0;
  let introduction: ServerIntroduction | null = null;
  let lastError: LastError | null = null;
  let lastPingMs: number | null = null;
  let stop: AbortController | undefined;
  let attempting: Promise<void> = Promise.resolve();
  let heartbeat: Heartbeat | undefined;
  const timers = new Map<'retry' | 'steady', NodeJS.Timeout>();
  /** Woken when the attempt that runs, or is due next, has ended either way. */
  const attempts = createWaitingRoom();
  const ending = new Set<Promise<void>>();

  const opening = {
    transport: deps.transport,
    compiler: deps.compiler,
    version: deps.version,
    capabilities: deps.capabilities,
    note: (message: string) => log.debug('Tool server note', { server: name, note: message }),
  };

  function dispatch(event: ConnectionEvent): void {
    const before = state;
    const next = transition(state, event, { now: now(), random: random(), timing });
    state = next.state;
    if (state.status !== before.status) statusChanged(before);
    switch (next.effect?.type) {
      case 'open':
        attempting = attempt();
        break;
      case 'retry':
        later('retry', next.effect.inMs, () => dispatch({ type: 'retry-due' }));
        break;
      case 'drop':
        lose(new ToolFailure('transport', 'ping_timeout', 'The tool server answered no ping'));
        break;
    }
  }

  function statusChanged(before: ConnectionState): void {
    const fields = { server: name, from: before.status, to: state.status };
    if (state.status === 'backoff' || state.status === 'error') {
      log.warn('Tool server is down', {
        ...fields,
        code: lastError?.code,
        reason: lastError?.message,
        action: operatorHint(lastError?.code ?? ''),
        nextRetryAt: isoOrNull(state.nextRetryAt),
        crashLoop: state.crashLoop,
      });
    } else if (state.status === 'closing' || before.status === 'closing') {
      log.debug('Tool server is ended', fields);
    } else {
      log.info('Tool server changed state', fields);
    }
    if (before.status === 'connecting') attempts.wakeAll();
  }

  /** Timers never keep the process alive, and one of a kind runs at a time. */
  function later(kind: 'retry' | 'steady', ms: number, run: () => void): void {
    clearTimeout(timers.get(kind));
    timers.set(kind, setTimeout(run, ms).unref());
  }

  async function attempt(): Promise<void> {
    const release = await deps.gate();
    const control = new AbortController();
    stop = control;
    const timer = setTimeout(() => control.abort(timedOut(deps.connectTimeout)), deps.connectTimeout);
    try {
      if (state.status !== 'connecting') return;
      // Two processes of one server would fight over its ports and files.
      await Promise.all(ending);
      use(await openServer(opening, control.signal, noteEnding));
    } catch (error) {
      fail(control.signal.aborted ? toToolFailure(control.signal.reason) : toToolFailure(error), false);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  function use(open: OpenServer): void {
    current = open;
    introduction = open.introduction;
    replaceCatalog(open.catalog);
    dispatch({ type: 'opened' });
    later('steady', timing.steadyAfterMs, () => dispatch({ type: 'steady' }));
    heartbeat = watchOver(open.client);
    open.watch({ lost: (failure) => current === open && lose(failure), toolsChanged: relist });
  }

  function noteEnding(closing: Promise<void>): void {
    ending.add(closing);
    void closing.finally(() => ending.delete(closing));
  }

  /** Leaves the open connection, if there is one. */
  function leave(reason: ToolFailure): boolean {
    const open = current;
    current = undefined;
    heartbeat?.stop();
    clearTimeout(timers.get('steady'));
    if (open !== undefined) noteEnding(open.end(reason));
    return open !== undefined;
  }

  /** The open connection is gone, or given up. */
  function lose(failure: ToolFailure): void {
    if (leave(failure)) fail(failure, failure.code === 'session_lost');
  }

  function fail(failure: ToolFailure, sessionLost: boolean): void {
    if (state.status === 'closing') return;
    lastError = {
      code: failure.code,
      message: mask(failure.message),
      at: new Date(now()).toISOString(),
    };
    dispatch({ type: 'failed', operator: failure.operator, exited: failure.exit !== undefined, sessionLost });
  }

  function replaceCatalog(listed: ToolCatalog): void {
    catalog = listed;
    listedAt = now();
    for (const { name: tool, reason } of listed.invalid) {
      log.warn('A tool is not offered', { server: name, tool, reason: mask(reason) });
    }
    deps.changed();
  }

  const relist = createFollowUp(async () => {
    const open = current;
    if (open === undefined) return;
    try {
      const signal = AbortSignal.timeout(deps.connectTimeout);
      const listed = await readToolCatalog(open.client, deps.compiler, signal);
      if (current === open) replaceCatalog(listed);
    } catch (error) {
      const { code, message } = toToolFailure(error);
      log.warn('The changed tool list could not be read; the former one stays', {
        server: name,
        code,
        reason: mask(message),
      });
    }
  });

  function watchOver(client: RpcClient): Heartbeat {
    return createHeartbeat({
      client,
      everyMs: timing.pingEveryMs,
      budgetMs: timing.pingBudgetMs,
      answered: (ms) => {
        lastPingMs = ms;
        dispatch({ type: 'ping-answered' });
      },
      missed: () => {
        dispatch({ type: 'ping-missed' });
        return state.status === 'degraded';
      },
    });
  }

  function worthWaiting(): boolean {
    if (state.status === 'connecting') return true;
    if (state.status !== 'backoff' || state.crashLoop || state.nextRetryAt === null) return false;
    return state.nextRetryAt - now() <= timing.retryPatienceMs;
  }

  async function waitForClient(signal: StopSignal): Promise<RpcClient> {
    dispatch({ type: 'wanted' });
    if (worthWaiting()) await attempts.wait(signal);
    if (current === undefined) throw unavailable();
    return current.client;
  }

  function unavailable(): ToolFailure {
    const reason = lastError === null ? 'it is not connected' : lastError.message;
    return new ToolFailure(
      'transport',
      lastError?.code ?? 'not_connected',
      `${name} is not available: ${reason}`,
      {
        neverSent: true,
      },
    );
  }

  return {
    state: () => state,
    catalog: () => catalog,
    lastError: () => lastError,
    lastPingMs: () => lastPingMs,
    introduction: () => introduction,
    pid: () => current?.client.transport.facts().pid,
    start: () => dispatch({ type: 'wanted' }),
    firstAttempt() {
      if (state.attemptedAt === null) dispatch({ type: 'wanted' });
      const first = state.status === 'connecting' && state.failures === 0 && !state.everConnected;
      return first ? attempts.wait() : undefined;
    },
    acquire: (signal) => current?.client ?? waitForClient(signal),
    refresh() {
      const isSilent = introduction?.offersTools === true && !introduction.announcesTools;
      if (isSilent && isUp(state.status) && now() - listedAt >= timing.relistAfterMs) relist();
    },
    succeeded() {
      if (state.failures > 0) dispatch({ type: 'steady' });
    },
    suspect: () => heartbeat?.check(),
    async close() {
      dispatch({ type: 'close' });
      for (const timer of timers.values()) clearTimeout(timer);
      const reason = new ToolFailure('transport', 'closing', 'The hub is shutting down');
      stop?.abort(reason);
      leave(reason);
      await attempting;
      await Promise.all(ending);
      dispatch({ type: 'closed' });
      attempts.wakeAll();
    },
  };
}

function timedOut(ms: number): ToolFailure {
  return new ToolFailure('transport', 'connect_timeout', `No connection within ${ms} ms`);
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
