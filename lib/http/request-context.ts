import type { IncomingMessage } from 'node:http';
import type { LogFields } from '../logging/logger.ts';

/** Who a request comes from, once authentication has decided. */
export interface Caller {
  /** Identity id, or undefined while main authentication is off (or on a public route). */
  id: string | undefined;
  /** Bounded label for limits, logs and usage: the identity id, else `ip:<client ip>`. */
  label: string;
}

/** What the shared middleware knows about a request; `request.hub` on every Express request. */
export interface RequestContext {
  /** The request id: a sane inbound `x-request-id`, else a fresh one. */
  readonly id: string;
  /** `performance.now()` at arrival. */
  readonly startedAt: number;
  /** Client address after trustProxy, in its plain form (`::ffff:` removed). */
  readonly clientIp: string;
  /** Inbound W3C `traceparent`, when well-formed. */
  readonly traceparent: string | undefined;
  /** Aborts when the caller leaves before the response is finished. */
  readonly signal: AbortSignal;
  caller: Caller;
  /** A `Set-Cookie` value that the answer carries beside its own, e.g. that of a session just begun. */
  setCookie?: string | undefined;
  /** Fields that a route adds to its access record, e.g. `target`. */
  readonly log: LogFields;
}

/** A request with its context, be it Express's or that of a protocol upgrade. */
export type HubRequest = IncomingMessage & { hub: RequestContext };

declare global {
  namespace Express {
    interface Request {
      hub: RequestContext;
    }
  }
}
