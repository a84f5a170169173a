import type { ServerResponse } from 'node:http';
import type { RequestContext } from '../http/request-context.ts';
import type { CompanionStatus } from './protocol.ts';

/** A call whose answer is relayed to the caller as it comes. */
export interface RelayRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path and query on the companion. */
  path: string;
  /** Headers to pass on beside the internal ones: a flat list of names, in lower case, and values. */
  headers: readonly string[];
  body: Buffer | null;
}

/** A small JSON call. */
export interface CompanionCall {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Serialised as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  requestId?: string;
}

/** The typed client of the internal API. The only way from gateway and handlers to the companion. */
export interface CompanionClient {
  /**
   * One small JSON call; the parsed 2xx body.
   * @throws HubError `ailink_unavailable` when the companion cannot be reached, or the error that it answered.
   */
  call<T>(call: CompanionCall): Promise<T>;
  /**
   * Relays a call with backpressure both ways. Resolves when the response is finished or the caller has left
   * (the companion's call is aborted then). Before the first byte a failure rejects with `ailink_unavailable`;
   * after it an event stream ends with one `data: {"error":…}` frame, anything else by a reset.
   */
  relay(request: RelayRequest, response: ServerResponse, context: RequestContext): Promise<void>;
  /** The companion's state now, without a call. */
  status(): CompanionStatus;
  /** Calls the companion's liveness, at most `timeoutMs`. False on any doubt. */
  probe(timeoutMs: number): Promise<boolean>;
  close(): Promise<void>;
}
