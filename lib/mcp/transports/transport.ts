import type { ProcessExit, ToolFailure } from '../failure.ts';

/** What a transport tells its owner. Nothing is told any more after `closed`. */
export interface TransportEvents {
  /**
   * One JSON-RPC message (or batch) as it came, undecoded. `answering` is the request on whose own answer stream it
   * came, where the transport has such streams.
   */
  message(text: string, answering?: number): void;
  /** The request with this id will never be answered; others are not touched. */
  requestFailed(id: number, failure: ToolFailure): void;
  /** The connection is gone, with the reason. Told at most once, and never after `close()` was called. */
  closed(failure: ToolFailure): void;
  /** Something worth a debug record, e.g. a line that is not JSON. */
  note(message: string): void;
}

/** Facts of a running transport for the statistics. */
export interface TransportFacts {
  pid?: number;
}

/**
 * One connection to a tool server, used once: after `close()` or `closed` a new one is made. Messages are JSON
 * texts without line ends.
 */
export interface Transport {
  /**
   * Opens the connection. Rejects with a ToolFailure, also when `signal` aborts. After a rejection the owner
   * still calls `close()`.
   */
  open(signal: AbortSignal): Promise<void>;
  /** Sends one message; `id` is given for requests. Failures come as `requestFailed` or `closed`. */
  send(text: string, id?: number): void;
  /** Nobody waits for this request any more: it was answered, or given up. Frees what only it used. */
  release(id: number, answered: boolean): void;
  /** Called once after initialize: the protocol version, and whether the server may speak by itself. */
  negotiated(protocolVersion: string, speaksItself: boolean): void;
  facts(): TransportFacts;
  /** Ends everything that belongs to the connection; never rejects, and is bounded in time. */
  close(): Promise<void>;
}

/** What outlives a single connection of a server: the last exit and the end of its stderr. */
export interface ServerTrace {
  exit: ProcessExit | null;
  /** Adds one line, cut and bounded. */
  stderr(line: string): void;
  stderrTail(): string[];
}

/** Makes one connection, not yet open. */
export type TransportFactory = (events: TransportEvents) => Transport;
