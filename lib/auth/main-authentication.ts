import type { IncomingMessage } from 'node:http';
import { HubError } from '../errors/hub-error.ts';
import type { OriginRules } from '../http/origin.ts';
import type { Caller, RequestContext } from '../http/request-context.ts';
import type { Logger } from '../logging/logger.ts';
import type { Authenticator } from './authenticator.ts';
import type { SessionCookie } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';
import type { TokenCache } from './token-cache.ts';

export interface MainAuthenticationDeps {
  tokens: TokenCache;
  sessions: Sessions;
  cookie: SessionCookie;
  origins: OriginRules;
  /** Log type access, module auth. */
  logger: Logger;
}

/** RFC 6750 §2.1; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/=-]+) *$/i;

/** Methods that change nothing (RFC 9110 §9.2.1): a page of another origin may send them, and cannot read the answer. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Main authentication (contract §4): a presented bearer decides alone and begins a session; without one the session
 * cookie does. Closed on every doubt.
 */
export function createMainAuthentication(deps: MainAuthenticationDeps): Authenticator {
  const { tokens, sessions, cookie, origins, logger } = deps;

  async function byBearer(token: string, request: IncomingMessage, context: RequestContext): Promise<Caller> {
    const verified = await tokens.verify(token);
    if (verified === undefined) throw refused(context, 'The bearer token was refused');
    const sessionId = await sessions.ofToken(verified);
    if (sessionId !== undefined && cookie.read(request.headers.cookie) !== sessionId) {
      context.setCookie = cookie.issue(sessionId, origins.isSecure(request));
    }
    return callerOf(verified.identity.id);
  }

  async function byCookie(request: IncomingMessage, context: RequestContext): Promise<Caller> {
    const sessionId = cookie.read(request.headers.cookie);
    if (sessionId === undefined) {
      const isForged = cookie.present(request.headers.cookie);
      throw refused(
        context,
        isForged ? 'The session is over or was never begun' : 'Authentication is required',
      );
    }
    if (changesState(request) && !isOwnPage(request)) {
      throw new HubError('cross_site', "A session cookie alone is good only for the hub's own pages");
    }
    const id = await sessions.identityOf(sessionId);
    if (id === undefined) throw refused(context, 'The session is over or was never begun');
    return callerOf(id);
  }

  /** A browser says where a request comes from; where it says nothing, the cookie alone is not enough. */
  function isOwnPage(request: IncomingMessage): boolean {
    const { origin } = request.headers;
    if (origin !== undefined) return origin === origins.ownOrigin(request) || origins.isAllowed(origin);
    return request.headers['sec-fetch-site'] === 'same-origin';
  }

  function refused(context: RequestContext, message: string): HubError {
    logger.warn('Authentication failed', {
      requestId: context.id,
      clientIp: context.clientIp,
      reason: message,
    });
    return new HubError('unauthorized', message);
  }

  return {
    authenticate(request, context) {
      const { authorization } = request.headers;
      const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
      if (token !== undefined) return byBearer(token, request, context);
      if (authorization !== undefined && /^bearer\b/i.test(authorization)) {
        throw refused(context, 'The bearer token is malformed');
      }
      return byCookie(request, context);
    },
  };
}

function changesState(request: IncomingMessage): boolean {
  return !SAFE_METHODS.has(request.method ?? '') || request.headers.upgrade !== undefined;
}

function callerOf(id: string): Caller {
  return { id, label: id };
}
