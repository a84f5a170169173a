import type { AuthConfig } from '../config/schema/auth.ts';
import type { OriginRules } from '../http/origin.ts';
import { createOutboundDispatcher } from '../http-client/outbound-dispatcher.ts';
import type { OutboundProxy } from '../http-client/outbound-proxy.ts';
import type { Logger } from '../logging/logger.ts';
import type { SharedStore } from '../store/shared-store.ts';
import { type Authenticator, createAuthenticator } from './authenticator.ts';
import { createMainAuthentication } from './main-authentication.ts';
import { createSessionCookie } from './session-cookie.ts';
import { createSessions } from './sessions.ts';
import { createSignOut, type SignOut } from './sign-out.ts';
import { createTokenCache } from './token-cache.ts';
import type { Verifier } from './verifier.ts';
import { createApiKeyVerifier } from './verifiers/api-key.ts';
import { createEdapiVerifier } from './verifiers/edapi.ts';
import { createJwtVerifier } from './verifiers/jwt.ts';

export interface OpenMainAuthenticationDeps {
  auth: AuthConfig;
  store: SharedStore;
  origins: OriginRules;
  /** Address that the hub listens on; undefined where it listens on none (a Lambda). */
  bindHost: string | undefined;
  outboundProxy: OutboundProxy;
  /** Log type access, module auth. */
  logger: Logger;
}

export interface MainAccess {
  authenticator: Authenticator;
  signOut: SignOut;
  /** Ends its connections. */
  close(): Promise<void>;
}

/** Calls to the identity service at once; further ones wait in line, within `auth.timeout`. */
const IDENTITY_CONNECTIONS = 64;

/** Main authentication as `auth` configures it, for the gateway and every handler alike (contract §4). */
export function openMainAuthentication(deps: OpenMainAuthenticationDeps): MainAccess {
  const { auth, store, origins, bindHost, logger } = deps;
  const { secret, name, sameSite } = auth.session.cookie;
  if (!auth.enabled || secret === undefined) {
    return {
      authenticator: createAuthenticator({ enabled: auth.enabled, origins, bindHost }),
      signOut: async () => ({ ended: false }),
      close: async () => {},
    };
  }
  const ttlMs = auth.session.ttl;
  const verifier = createVerifier(auth, deps.outboundProxy);
  const tokens = createTokenCache({
    verifier,
    cacheTtlMs: auth.cacheTtl,
    timeoutMs: auth.timeout,
    now: Date.now,
  });
  const sessions = createSessions({ store, ttlMs, now: Date.now, logger });
  const cookie = createSessionCookie({ name, secret, sameSite, ttlMs });
  return {
    authenticator: createMainAuthentication({ tokens, sessions, cookie, origins, logger }),
    signOut: createSignOut({ sessions, cookie, origins }),
    close: async () => verifier.close?.(),
  };
}

function createVerifier(auth: AuthConfig, proxy: OutboundProxy): Verifier {
  const connect = () =>
    createOutboundDispatcher(proxy, {
      connections: IDENTITY_CONNECTIONS,
      connect: { timeout: auth.timeout },
    });
  if (auth.type === 'edapi' && auth.edapi_url !== undefined) {
    return createEdapiVerifier({ url: auth.edapi_url, dispatcher: connect() });
  }
  if (auth.type === 'jwt' && auth.jwt !== undefined) {
    const { issuer, audience, jwks_uri: jwksUri } = auth.jwt;
    const dispatcher = connect();
    return createJwtVerifier({ issuer, audience, jwksUri, timeoutMs: auth.timeout, dispatcher });
  }
  // No keys: nobody comes in. The configuration's rules say what is missing.
  return createApiKeyVerifier(auth.type === 'apiKey' ? auth.apiKeys : []);
}
