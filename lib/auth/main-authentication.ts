import type { IncomingMessage } from 'node:http';
import { HubError } from '../errors/hub-error.ts';
import type { OriginRules } from '../http/origin.ts';
import type { Caller, RequestContext } from '../http/request-context.ts';
import type { Logger } from '../logging/logger.ts';
import type { Authenticator } from './authenticator.ts';
import { bearerOf } from './bearer.ts';
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
    const known = sessions.ofToken(verified);
    const sessionId = typeof known === 'object' ? await known : known;
    if (sessionId !== undefined && cookie.read(request.headers.cookie) !== sessionId) {
      context.setCookie = cookie.issue(sessionId, origins.isSecure(request));
    }
    return callerOf(verified.identity.id);
  }

  async function byCookie(request: IncomingMessage, context: RequestContext): Promise<Caller> {
    const sessionId = cookie.read(request.headers.cookie);
    const id = sessionId === undefined ? undefined : await sessions.identityOf(sessionId);
    if (id === undefined) {
      const isPresent = cookie.present(request.headers.cookie);
      throw refused(
        context,
        isPresent ? 'The session is over or was never begun' : 'Authentication is required',
      );
    }
    if (changesState(request) && !origins.isOwnPage(request)) {
      logger.warn('A page of another origin used a session cookie', { ...factsOf(context), caller: id });
      throw new HubError('cross_site', "A session cookie alone is good only for the hub's own pages");
    }
    return callerOf(id);
  }

  function refused(context: RequestContext, message: string): HubError {
    logger.warn('Authentication failed', { ...factsOf(context), reason: message });
    return new HubError('unauthorized', message);
  }

  return {
    authenticate(request, context) {
      const bearer = bearerOf(request);
      if (bearer === 'malformed') throw refused(context, 'The bearer token is malformed');
      return bearer === undefined ? byCookie(request, context) : byBearer(bearer.token, request, context);
    },
  };
}

const factsOf = ({ id, clientIp }: RequestContext) => ({ requestId: id, clientIp });

function changesState({ method = '', headers }: IncomingMessage): boolean {
  return !SAFE_METHODS.has(method) || headers.upgrade !== undefined;
}

const callerOf = (id: string): Caller => ({ id, label: id });
