/**
 * The connection machine of one tool server, as a pure function: what happened in, next state and what to do
 * out. Clocks live in `connection-machine.ts`, processes and sockets in `connection.ts`.
 *
 *   disconnected ─wanted→ connecting ─opened→ connected ⇄ degraded (a ping went unanswered)
 *                             │                  │ lost
 *                             │ failed           ▼
 *                             ├──────────────→ backoff ─retry due→ connecting, for ever
 *                             └ only the operator can mend it → error ─wanted, every 2 s at most→ connecting
 *   any ─close→ closing ─closed→ disconnected
 */
export type ConnectionStatus =
  | 'disconnected'
  | 'connecting'
  | 'connected'
  | 'degraded'
  | 'backoff'
  | 'error'
  | 'closing';

/** Times are milliseconds since the epoch. */
export interface ConnectionState {
  readonly status: ConnectionStatus;
  /** Failed attempts and losses since the connection was last steady. */
  readonly failures: number;
  /** When the server's process ended by itself, within the crash window. */
  readonly exits: readonly number[];
  readonly crashLoop: boolean;
  readonly attemptedAt: number | null;
  readonly connectedAt: number | null;
  readonly nextRetryAt: number | null;
  /** Connections made after the first one. */
  readonly restarts: number;
  readonly everConnected: boolean;
  readonly missedPings: number;
}

export type ConnectionEvent =
  /** A call, a first listing or the start wants the server. */
  | { type: 'wanted' }
  | { type: 'opened' }
  /** An attempt failed, or an open connection was lost. */
  | { type: 'failed'; operator: boolean; exited: boolean; sessionLost: boolean }
  | { type: 'retry-due' }
  | { type: 'ping-missed' }
  | { type: 'ping-answered' }
  /** Up for long enough, or one call succeeded. */
  | { type: 'steady' }
  | { type: 'close' }
  | { type: 'closed' };

export type ConnectionEffect =
  | { type: 'open' }
  | { type: 'retry'; inMs: number }
  /** The connection does not answer: end it. A `failed` event follows. */
  | { type: 'drop' }
  | { type: 'close' };

export interface ConnectionTiming {
  /** Backoff is a random share of base × 2ⁿ, at most cap. */
  backoffBaseMs: number;
  backoffCapMs: number;
  /** Up for so long, a connection is steady. */
  steadyAfterMs: number;
  /** An `error` is probed by the next call, at most this often. */
  probeEveryMs: number;
  /** So many exits in the window are a crash loop, … */
  crashExits: number;
  crashWindowMs: number;
  /** … and then each retry waits at least this long. */
  crashRetryMs: number;
}

export const INITIAL_STATE: ConnectionState = {
  status: 'disconnected',
  failures: 0,
  exits: [],
  crashLoop: false,
  attemptedAt: null,
  connectedAt: null,
  nextRetryAt: null,
  restarts: 0,
  everConnected: false,
  missedPings: 0,
};

export interface Transition {
  state: ConnectionState;
  effect?: ConnectionEffect;
}

/** Surroundings of a transition. `random` is in [0, 1). */
export interface TransitionContext {
  now: number;
  random: number;
  timing: ConnectionTiming;
}

/** Whether calls may be sent. */
export function isUp(status: ConnectionStatus): boolean {
  return status === 'connected' || status === 'degraded';
}

/** The next state after an event, and what to do. An event that means nothing in this state changes nothing. */
export function transition(
  state: ConnectionState,
  event: ConnectionEvent,
  context: TransitionContext,
): Transition {
  if (event.type === 'closed') {
    return { state: { ...state, status: 'disconnected', connectedAt: null, nextRetryAt: null } };
  }
  if (state.status === 'closing') return { state };
  switch (event.type) {
    case 'close':
      return { state: { ...state, status: 'closing', nextRetryAt: null }, effect: { type: 'close' } };
    case 'wanted':
      return wanted(state, context) ? attempt(state, context.now) : { state };
    case 'retry-due':
      return state.status === 'backoff' ? attempt(state, context.now) : { state };
    case 'opened':
      return { state: opened(state, context.now) };
    case 'failed':
      return failed(state, event, context);
    case 'ping-missed':
      return pingMissed(state);
    case 'ping-answered':
      return isUp(state.status) ? { state: { ...state, status: 'connected', missedPings: 0 } } : { state };
    case 'steady':
      return isUp(state.status) ? { state: steady(state, context) } : { state };
  }
}

function wanted(state: ConnectionState, { now, timing }: TransitionContext): boolean {
  if (state.status === 'disconnected') return true;
  return state.status === 'error' && now - (state.attemptedAt ?? 0) >= timing.probeEveryMs;
}

function attempt(state: ConnectionState, now: number): Transition {
  return {
    state: { ...state, status: 'connecting', attemptedAt: now, nextRetryAt: null },
    effect: { type: 'open' },
  };
}

function opened(state: ConnectionState, now: number): ConnectionState {
  if (state.status !== 'connecting') return state;
  return {
    ...state,
    status: 'connected',
    connectedAt: now,
    restarts: state.restarts + (state.everConnected ? 1 : 0),
    everConnected: true,
    missedPings: 0,
  };
}

function failed(
  state: ConnectionState,
  event: { operator: boolean; exited: boolean; sessionLost: boolean },
  { now, random, timing }: TransitionContext,
): Transition {
  if (state.status !== 'connecting' && !isUp(state.status)) return { state };
  const exits = [...state.exits, ...(event.exited ? [now] : [])].filter(
    (at) => now - at < timing.crashWindowMs,
  );
  const crashLoop = exits.length >= timing.crashExits;
  const down = {
    ...state,
    failures: state.failures + 1,
    exits,
    crashLoop,
    connectedAt: null,
    missedPings: 0,
  };
  if (event.operator) return { state: { ...down, status: 'error', nextRetryAt: null } };
  // A server that forgot a steady session is well: only a new session is needed.
  if (event.sessionLost && isUp(state.status) && state.failures === 0) return attempt(down, now);
  const backoff = random * Math.min(timing.backoffCapMs, timing.backoffBaseMs * 2 ** state.failures);
  const inMs = Math.round(crashLoop ? Math.max(timing.crashRetryMs, backoff) : backoff);
  return {
    state: { ...down, status: 'backoff', nextRetryAt: now + inMs },
    effect: { type: 'retry', inMs },
  };
}

/** One success forgives the failures; a crash loop is over only when the server stays up. */
function steady(state: ConnectionState, { now, timing }: TransitionContext): ConnectionState {
  const calm = now - (state.connectedAt ?? now) >= timing.steadyAfterMs;
  return calm ? { ...state, failures: 0, exits: [], crashLoop: false } : { ...state, failures: 0 };
}

function pingMissed(state: ConnectionState): Transition {
  if (!isUp(state.status)) return { state };
  const missedPings = state.missedPings + 1;
  const next: ConnectionState = { ...state, status: 'degraded', missedPings };
  return missedPings < 2 ? { state: next } : { state: next, effect: { type: 'drop' } };
}
