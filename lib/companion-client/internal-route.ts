import type { IncomingMessage, ServerResponse } from 'node:http';

/** What the companion's server knows about an internal call. */
export interface InternalContext {
  requestId: string;
  /** Caller label, decoded; `unknown` when the gateway sent none. */
  caller: string;
  traceparent: string | undefined;
}

/** One path of the internal API, in plain node:http terms (the companion has no Express). */
export interface InternalRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Exact path, or a prefix ending in `/*`. */
  path: string;
  /** May throw or reject with a HubError before the response has begun; the server renders it. */
  handle(request: IncomingMessage, response: ServerResponse, context: InternalContext): void | Promise<void>;
}

/** A capability that lives in the companion. */
export interface CompanionCapability {
  routes: readonly InternalRoute[];
  /** Begins what runs by itself (tool servers with autoConnect). */
  start?(): void;
  /** A stop is near: ends calls that never end by themselves (standing event streams), so that a drain can finish. */
  announceStop?(): void;
  /** Ends everything that it started; calls in flight have finished or been cut by then. */
  close?(): Promise<void>;
}
