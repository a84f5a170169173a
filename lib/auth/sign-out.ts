import type { IncomingMessage } from 'node:http';
import { HubError } from '../errors/hub-error.ts';
import type { OriginRules } from '../http/origin.ts';
import { bearerOf } from './bearer.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';
import { tokenHash } from './token-cache.ts';

export interface SignedOut {
  /** Whether there was a live session. */
  ended: boolean;
  /** Value of `Set-Cookie` that takes the caller's cookie away; undefined where it sent none. */
  setCookie?: string;
}

/**
 * Ends the sessions of whoever sends this request: that of its bearer, known by the token's SHA-256, and that of
 * its cookie.
 * @throws HubError `cross_site`, or `session_store_unavailable` where the session may still live.
 */
export type SignOut = (request: IncomingMessage) => Promise<SignedOut>;

export interface SignOutDeps {
  sessions: Sessions;
  cookie: SessionCookie;
  origins: OriginRules;
}

export function createSignOut({ sessions, cookie, origins }: SignOutDeps): SignOut {
  return async (request) => {
    const bearer = bearerOf(request);
    const hasCookie = cookie.present(request.headers.cookie);
    if (bearer === undefined && hasCookie && isForeignPage(request)) {
      throw new HubError('cross_site', "A session cookie alone is good only for the hub's own pages");
    }
    let ended = false;
    if (typeof bearer === 'object') ended = await sessions.endOfToken(tokenHash(bearer.token));
    const sessionId = cookie.read(request.headers.cookie);
    if (sessionId !== undefined) ended = (await sessions.end(sessionId)) || ended;
    return hasCookie ? { ended, setCookie: cookie.clear(origins.isSecure(request)) } : { ended };
  };

  /** Who sends no sign of a browser is no page, and may leave. */
  function isForeignPage(request: IncomingMessage): boolean {
    const { origin, 'sec-fetch-site': site } = request.headers;
    return (origin !== undefined || site !== undefined) && !origins.isOwnPage(request);
  }
}
