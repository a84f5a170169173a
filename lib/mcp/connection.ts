import type { Logger } from '../logging/logger.ts';
import { createConnectionMachine } from './connection-machine.ts';
import { type ConnectionState, type ConnectionTiming, isUp } from './connection-state.ts';
import { createConnector } from './connector.ts';
import { type LastError, ToolFailure } from './failure.ts';
import type { ClientCapabilities, ServerIntroduction } from './handshake.ts';
import { createHeartbeat, type Heartbeat } from './heartbeat.ts';
import type { SchemaCompiler } from './input-schema.ts';
import type { OpenServer } from './open-server.ts';
import type { RpcClient } from './rpc-client.ts';
import { createServerCatalog } from './server-catalog.ts';
import type { StopSignal } from './stop-signal.ts';
import type { ToolCatalog } from './tool-catalog.ts';
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
  let current: OpenServer | undefined;
  let introduction: ServerIntroduction | null = null;
  let lastPingMs: number | null = null;
  let heartbeat: Heartbeat | undefined;
  /** Woken when the attempt that runs, or is due next, has ended either way. */
  const attempts = createWaitingRoom();

  const machine = createConnectionMachine({
    name,
    timing,
    log,
    mask,
    now,
    random,
    open: () => connector.connect(),
    attempted: attempts.wakeAll,
    drop: () => lose(new ToolFailure('transport', 'ping_timeout', 'The tool server answered no ping')),
  });
  const connector = createConnector({
    server: {
      transport: deps.transport,
      compiler: deps.compiler,
      version: deps.version,
      capabilities: deps.capabilities,
      note: (message) => log.debug('Tool server note', { server: name, note: message }),
    },
    timeoutMs: deps.connectTimeout,
    gate: deps.gate,
    isWanted: () => machine.state().status === 'connecting',
    opened: use,
    failed: (failure) => machine.failed(failure, false),
  });
  const catalog = createServerCatalog({
    name,
    compiler: deps.compiler,
    timeoutMs: deps.connectTimeout,
    client: () => current?.client,
    log,
    mask,
    changed: deps.changed,
    now,
  });

  function use(open: OpenServer): void {
    current = open;
    introduction = open.introduction;
    catalog.replace(open.catalog);
    machine.opened();
    heartbeat = watchOver(open.client);
    open.watch({ lost: (failure) => current === open && lose(failure), toolsChanged: catalog.relist });
  }

  /** Leaves the open connection, if there is one. */
  function leave(reason: ToolFailure): boolean {
    const open = current;
    current = undefined;
    heartbeat?.stop();
    if (open !== undefined) connector.noteEnding(open.end(reason));
    return open !== undefined;
  }

  /** The open connection is gone, or given up. */
  function lose(failure: ToolFailure): void {
    if (leave(failure)) machine.failed(failure, failure.code === 'session_lost');
  }

  function watchOver(client: RpcClient): Heartbeat {
    return createHeartbeat({
      client,
      everyMs: timing.pingEveryMs,
      budgetMs: timing.pingBudgetMs,
      answered: (ms) => {
        lastPingMs = ms;
        machine.dispatch({ type: 'ping-answered' });
      },
      missed: () => {
        machine.dispatch({ type: 'ping-missed' });
        return machine.state().status === 'degraded';
      },
    });
  }

  function worthWaiting(): boolean {
    const state = machine.state();
    if (state.status === 'connecting') return true;
    if (state.status !== 'backoff' || state.crashLoop || state.nextRetryAt === null) return false;
    return state.nextRetryAt - now() <= timing.retryPatienceMs;
  }

  async function waitForClient(signal: StopSignal): Promise<RpcClient> {
    machine.dispatch({ type: 'wanted' });
    if (worthWaiting()) await attempts.wait(signal);
    if (current === undefined) throw unavailable();
    return current.client;
  }

  function unavailable(): ToolFailure {
    const lastError = machine.lastError();
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
    state: machine.state,
    catalog: catalog.current,
    lastError: machine.lastError,
    lastPingMs: () => lastPingMs,
    introduction: () => introduction,
    pid: () => current?.client.transport.facts().pid,
    start: () => machine.dispatch({ type: 'wanted' }),
    firstAttempt() {
      if (machine.state().attemptedAt === null) machine.dispatch({ type: 'wanted' });
      const state = machine.state();
      const first = state.status === 'connecting' && state.failures === 0 && !state.everConnected;
      return first ? attempts.wait() : undefined;
    },
    acquire: (signal) => current?.client ?? waitForClient(signal),
    refresh() {
      const isSilent = introduction?.offersTools === true && !introduction.announcesTools;
      if (!isSilent || !isUp(machine.state().status)) return;
      if (catalog.ageMs() >= timing.relistAfterMs) catalog.relist();
    },
    succeeded() {
      if (machine.state().failures > 0) machine.dispatch({ type: 'steady' });
    },
    suspect: () => heartbeat?.check(),
    async close() {
      machine.dispatch({ type: 'close' });
      const reason = new ToolFailure('transport', 'closing', 'The hub is shutting down');
      connector.abort(reason);
      leave(reason);
      await connector.ended();
      machine.dispatch({ type: 'closed' });
      attempts.wakeAll();
    },
  };
}
