import type { IncomingMessage } from 'node:http';
import { HubError } from '../errors/hub-error.ts';
import { isLoopbackHost, type OriginRules } from '../http/origin.ts';
import type { Caller, RequestContext } from '../http/request-context.ts';

/** Main authentication: says who sends a request under a protected path (spec §5, contract §4). */
export interface Authenticator {
  /**
   * The caller of a request.
   * @throws HubError `unauthorized`, `cross_site`, `identity_unavailable` or `session_store_unavailable`.
   */
  authenticate(request: IncomingMessage, context: RequestContext): Caller | Promise<Caller>;
}

export interface AuthenticatorDeps {
  /** `auth.enabled`. */
  enabled: boolean;
  origins: OriginRules;
  /** Address that the hub listens on, e.g. 127.0.0.1; undefined where it listens on none (a Lambda). */
  bindHost: string | undefined;
  /** Checks credentials while authentication is enabled. Without one nobody is let in. */
  verifier?: Authenticator | undefined;
}

/** The authenticator of a configuration. */
export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  if (!deps.enabled) return createOpenAuthenticator(deps.origins, deps.bindHost);
  return deps.verifier ?? createClosedAuthenticator();
}

/**
 * Authentication is off: everybody is in but pages of other sites, which a browser on this machine or in this
 * network would otherwise let use the hub in the name of whoever looks at them.
 */
function createOpenAuthenticator(origins: OriginRules, bindHost: string | undefined): Authenticator {
  const checksHost = bindHost !== undefined && isLoopbackHost(bindHost);
  return {
    authenticate(request, context) {
      if (checksHost && !origins.isLocalHost(request)) {
        throw new HubError('cross_site', 'The Host of this request is not a name of this hub');
      }
      if (origins.isCrossSite(request)) {
        throw new HubError('cross_site', 'Requests of pages on other origins are not allowed');
      }
      return { id: undefined, label: `ip:${context.clientIp}` };
    },
  };
}

/** Authentication is on and nothing can check credentials: fail closed, and say what is wrong. */
function createClosedAuthenticator(): Authenticator {
  return {
    authenticate({ headers }) {
      if (headers.authorization === undefined && headers.cookie === undefined) {
        throw new HubError('unauthorized', 'Authentication is required');
      }
      throw new HubError('identity_unavailable', 'Credentials cannot be checked at the moment', {
        cause: new Error('auth.enabled is true and no verifier is wired'),
      });
    },
  };
}
