import type { Authenticator } from '../auth/authenticator.ts';
import type { Limits } from './limits.ts';
import type { Caller, HubRequest } from './request-context.ts';
import type { Access } from './route.ts';

export interface GateDeps {
  authenticator: Authenticator;
  /** Lets an admin request pass or throws (contract §8). */
  adminGuard: (request: HubRequest) => void | Promise<void>;
  limits: Limits;
  /** Counts a request of a caller; the RateLimit headers of its answer, or throws `rate_limited` past `hub.rateLimit`. */
  rateLimit: ((caller: Caller) => RateLimitHeaders | Promise<RateLimitHeaders>) | undefined;
}

/** Names in lower case. */
export type RateLimitHeaders = Readonly<Record<string, string>>;

/** A response, or the socket of an upgrade. */
interface Closing {
  readonly closed: boolean;
  once(event: 'close', listener: () => void): unknown;
}

/** What stands before every route, be it called by a request or by a protocol upgrade. */
export interface Gate {
  /** Lets the request in or throws; under `main` its context then says who it is. */
  authorize(access: Access, request: HubRequest): Promise<void>;
  /**
   * Takes a place for an authenticated request until `closing` closes. Returns headers for its answer.
   * @throws HubError `rate_limited` or `overloaded`.
   */
  admit(request: HubRequest, closing: Closing): Promise<RateLimitHeaders | undefined>;
}

export function createGate({ authenticator, adminGuard, limits, rateLimit }: GateDeps): Gate {
  return {
    async authorize(access, request) {
      if (access === 'admin') await adminGuard(request);
      else if (access === 'main') request.hub.caller = await authenticator.authenticate(request, request.hub);
    },
    async admit({ hub }, closing) {
      const headers = rateLimit === undefined ? undefined : await rateLimit(hub.caller);
      const waiting = limits.enter(hub);
      if (waiting !== undefined) await waiting;
      const { label } = hub.caller;
      if (closing.closed) limits.leave(label);
      else closing.once('close', () => limits.leave(label));
      return headers;
    },
  };
}
