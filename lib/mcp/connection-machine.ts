import type { Logger } from '../logging/logger.ts';
import { logStatusChange } from './connection-log.ts';
import {
  type ConnectionEvent,
  type ConnectionState,
  type ConnectionTiming,
  INITIAL_STATE,
  transition,
} from './connection-state.ts';
import type { LastError, ToolFailure } from './failure.ts';

/** The connection machine of one tool server as it runs: its state, its timers and the failure that it met last. */
export interface ConnectionMachine {
  state(): ConnectionState;
  lastError(): LastError | null;
  dispatch(event: ConnectionEvent): void;
  /** An attempt succeeded: after some time the connection is steady. */
  opened(): void;
  /** An attempt failed, or the open connection was lost. */
  failed(failure: ToolFailure, sessionLost: boolean): void;
}

export interface ConnectionMachineDeps {
  name: string;
  timing: ConnectionTiming;
  log: Logger;
  mask(text: string): string;
  now(): number;
  random(): number;
  /** Starts an attempt. */
  open(): void;
  /** The attempt has ended either way. */
  attempted(): void;
  /** Ends a connection that does not answer; `failed` is called for it. */
  drop(): void;
}

export function createConnectionMachine(deps: ConnectionMachineDeps): ConnectionMachine {
  const { name, timing, log, mask, now, random } = deps;
  let state = INITIAL_STATE;
  let lastError: LastError | null = null;
  const timers = new Map<'retry' | 'steady', NodeJS.Timeout>();

  function dispatch(event: ConnectionEvent): void {
    const before = state;
    const next = transition(state, event, { now: now(), random: random(), timing });
    state = next.state;
    if (state.status !== before.status) statusChanged(before);
    switch (next.effect?.type) {
      case 'open':
        deps.open();
        break;
      case 'retry':
        later('retry', next.effect.inMs, { type: 'retry-due' });
        break;
      case 'drop':
        deps.drop();
        break;
      case 'close':
        for (const timer of timers.values()) clearTimeout(timer);
        break;
    }
  }

  function statusChanged(before: ConnectionState): void {
    logStatusChange(log, name, before, state, lastError);
    if (before.status === 'connecting') deps.attempted();
  }

  /** Timers never keep the process alive, and one of a kind runs at a time. */
  function later(kind: 'retry' | 'steady', ms: number, event: ConnectionEvent): void {
    clearTimeout(timers.get(kind));
    timers.set(kind, setTimeout(dispatch, ms, event).unref());
  }

  function opened(): void {
    dispatch({ type: 'opened' });
    later('steady', timing.steadyAfterMs, { type: 'steady' });
  }

  function failed(failure: ToolFailure, sessionLost: boolean): void {
    if (state.status === 'closing') return;
    clearTimeout(timers.get('steady'));
    lastError = {
      code: failure.code,
      message: mask(failure.message),
      at: new Date(now()).toISOString(),
    };
    dispatch({ type: 'failed', operator: failure.operator, exited: failure.exit !== undefined, sessionLost });
  }

  return { state: () => state, lastError: () => lastError, dispatch, opened, failed };
}
