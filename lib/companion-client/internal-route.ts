import type { IncomingHttpHeaders, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import type { BodySource } from '../http/body.ts';

/** An internal call, as it comes over HTTP or over the private channel: what both have of node:http's request. */
export interface InternalRequest extends BodySource {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Its answer: what both ways have of node:http's response. Closes once, finished or not. */
export interface InternalResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  /** Everything has left. */
  readonly writableFinished: boolean;
  /** Bytes that the other side has not taken yet. */
  readonly writableLength: number;
  writeHead(status: number, headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]): InternalResponse;
  flushHeaders(): void;
  /** False asks to wait for `drain`. */
  write(chunk: string | Uint8Array): boolean;
  end(chunk?: string | Uint8Array): unknown;
  /** Cuts the answer. */
  destroy(): unknown;
  on(event: 'close' | 'drain', listener: () => void): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
  removeListener(event: 'close' | 'drain', listener: () => void): unknown;
}

/** What the companion's server knows about an internal call. */
export interface InternalContext {
  requestId: string;
  /** Caller label, decoded; `unknown` when the gateway sent none. */
  caller: string;
  traceparent: string | undefined;
}

/** One path of the internal API, in terms of node:http (the companion has no Express). */
export interface InternalRoute {
  method: 'GET' | 'POST' | 'DELETE';
  /** Exact path, or a prefix ending in `/*`. */
  path: string;
  /** May throw or reject with a HubError before the response has begun; the server renders it. */
  handle(
    request: InternalRequest,
    response: InternalResponse,
    context: InternalContext,
  ): void | Promise<void>;
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
