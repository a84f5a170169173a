import { ToolFailure, toToolFailure } from './failure.ts';
import { type OpenServer, type OpenServerDeps, openServer } from './open-server.ts';

/** Makes the attempts to connect one tool server, each when everything of the former ones has ended. */
export interface Connector {
  /** Begins an attempt, which ends in `opened` or `failed`, or in neither when it is no longer wanted. */
  connect(): void;
  /** Takes the end of a connection: attempts wait for it. */
  noteEnding(closing: Promise<void>): void;
  /** Aborts the attempt that runs. */
  abort(reason: ToolFailure): void;
  /** Resolves when the attempt that runs and all that was opened have ended. */
  ended(): Promise<void>;
}

export interface ConnectorDeps {
  server: OpenServerDeps;
  /** Milliseconds for opening, initialize and the full tool list together. */
  timeoutMs: number;
  /** Waits for permission to start an attempt; call the result when the attempt has ended. */
  gate(): Promise<() => void>;
  /** Whether an attempt that has come through the gate is still to be made. */
  isWanted(): boolean;
  opened(open: OpenServer): void;
  failed(failure: ToolFailure): void;
}

export function createConnector(deps: ConnectorDeps): Connector {
  let stop: AbortController | undefined;
  let attempting: Promise<void> = Promise.resolve();
  const ending = new Set<Promise<void>>();

  async function attempt(): Promise<void> {
    const release = await deps.gate();
    const control = new AbortController();
    stop = control;
    const timer = setTimeout(() => control.abort(timedOut(deps.timeoutMs)), deps.timeoutMs);
    try {
      if (!deps.isWanted()) return;
      // Two processes of one server would fight over its ports and files.
      await Promise.all(ending);
      deps.opened(await openServer(deps.server, control.signal, noteEnding));
    } catch (error) {
      deps.failed(control.signal.aborted ? toToolFailure(control.signal.reason) : toToolFailure(error));
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  function noteEnding(closing: Promise<void>): void {
    ending.add(closing);
    void closing.finally(() => ending.delete(closing));
  }

  return {
    connect() {
      attempting = attempt();
    },
    noteEnding,
    abort: (reason) => stop?.abort(reason),
    async ended() {
      await attempting;
      await Promise.all(ending);
    },
  };
}

function timedOut(ms: number): ToolFailure {
  return new ToolFailure('transport', 'connect_timeout', `No connection within ${ms} ms`);
}
