import type { Express } from 'express';
import { createAdminGuard } from '../auth/admin-key.ts';
import { openMainAuthentication } from '../auth/open-main-authentication.ts';
import type { SignOut } from '../auth/sign-out.ts';
import type { CompanionClient } from '../companion-client/companion-client.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import { parseSize } from '../config/size.ts';
import { type ClientAddresses, createClientAddresses } from '../http/client-ip.ts';
import { createOriginRules, type OriginRules } from '../http/origin.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import type { RouteGroup } from '../http/route.ts';
import type { OutboundProxy } from '../http-client/outbound-proxy.ts';
import type { Logs } from '../logging/logger.ts';
import { createMask } from '../logging/mask.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { openStore } from '../store/open-store.ts';
import type { SharedStore } from '../store/shared-store.ts';
import { createApp } from './create-app.ts';

/** What route groups are made of. */
export interface HubParts {
  loaded: LoadedConfig;
  config: LoadedConfig['config'];
  companion: CompanionClient;
  addresses: ClientAddresses;
  origins: OriginRules;
  logs: Logs;
  outboundProxy: OutboundProxy;
  /** `hub.limits.jsonBody` in bytes. */
  bodyLimit: number;
  signOut: SignOut;
}

export interface HubAppDeps {
  loaded: LoadedConfig;
  logs: Logs;
  companion: CompanionClient;
  /** Address that the hub listens on; undefined where it listens on none (a Lambda). */
  bindHost: string | undefined;
  /** `Environment.outboundProxy`. */
  outboundProxy: OutboundProxy;
}

export interface HubApp {
  app: Express;
  /** Lets the groups begin work of their own. Call it before the process listens. */
  start(): Promise<void>;
  /** Ends what the groups and the shared parts began by themselves. Call it when no request is left. */
  close(): Promise<void>;
}

/** Puts the app of a process together: the shared middleware from the configuration, and the groups on top. */
export function createHubApp(
  { loaded, logs, companion, bindHost, outboundProxy }: HubAppDeps,
  composeGroups: (parts: HubParts) => RouteGroup[],
): HubApp {
  const { config } = loaded;
  const addresses = createClientAddresses(config.hub.security.trustProxy);
  const origins = createOriginRules({
    publicUrl: config.hub.publicUrl,
    corsOrigins: config.hub.cors.origins,
    addresses,
  });
  const store = openStore({ auth: config.auth, companion, logger: logs.logger('error', 'store') });
  const { authenticator, signOut, ...main } = openMainAuthentication({
    auth: config.auth,
    store,
    origins,
    bindHost,
    outboundProxy,
    logger: logs.logger('access', 'auth'),
  });
  const groups = composeGroups({
    loaded,
    config,
    companion,
    addresses,
    origins,
    logs,
    outboundProxy,
    bodyLimit: parseSize(config.hub.limits.jsonBody),
    signOut,
  });
  const app = createApp(groups, {
    hub: config.hub,
    logs,
    addresses,
    origins,
    authenticator,
    adminGuard: createAdminGuard({ admin: config.auth.admin, store, logger: logs.logger('access', 'admin') }),
    rateLimit: openRateLimit(config.hub.rateLimit, store),
    mask: createMask(loaded.secrets),
  });
  return {
    app,
    async start() {
      for (const group of groups) await group.start?.();
    },
    async close() {
      await Promise.allSettled(groups.map((group) => group.close?.()));
      await Promise.allSettled([store.close(), main.close()]);
    },
  };
}

function openRateLimit(limit: LoadedConfig['config']['hub']['rateLimit'], store: SharedStore) {
  if (!limit.enabled) return undefined;
  const now = () => performance.now();
  return createRateLimit({
    windowMs: limit.windowMs,
    max: limit.max,
    store,
    ownStore: createMemoryStore({ now, maxEntries: 10_000 }),
    now,
  });
}
