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

/** Headers for the answer of an admitted request, if any. */
type Admission = RateLimitHeaders | undefined;

/**
 * What stands before every route, be it called by a request or by a protocol upgrade. A promise comes only where there
 * is something to wait for: most requests pass all of it in one go.
 */
export interface Gate {
  /** Lets the request in or throws; under `main` its context then says who it is. */
  authorize(access: Access, request: HubRequest): void | Promise<void>;
  /**
   * Takes a place for an authenticated request until `closing` closes. Returns headers for its answer.
   * @throws HubError `rate_limited` or `overloaded`.
   */
  admit(request: HubRequest, closing: Closing): Admission | Promise<Admission>;
}

export function createGate({ authenticator, adminGuard, limits, rateLimit }: GateDeps): Gate {
  /** Takes the place, perhaps after waiting for it. */
  function enter({ hub }: HubRequest, closing: Closing, headers: Admission): Admission | Promise<Admission> {
    const { label } = hub.caller;
    const hold = () => {
      if (closing.closed) limits.leave(label);
      else closing.once('close', () => limits.leave(label));
      return headers;
    };
    const waiting = limits.enter(hub);
    return waiting === undefined ? hold() : waiting.then(hold);
  }

  return {
    authorize(access, request) {
      if (access === 'public') return undefined;
      if (access === 'admin') return adminGuard(request);
      const caller = authenticator.authenticate(request, request.hub);
      if (caller instanceof Promise) {
        return caller.then((known) => {
          request.hub.caller = known;
        });
      }
      request.hub.caller = caller;
      return undefined;
    },
    admit(request, closing) {
      const headers = rateLimit?.(request.hub.caller);
      if (headers instanceof Promise) return headers.then((counted) => enter(request, closing, counted));
      return enter(request, closing, headers);
    },
  };
}
