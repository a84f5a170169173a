import type { Express } from 'express';
import { createAdminGuard } from '../auth/admin-key.ts';
import { createAuthenticator } from '../auth/authenticator.ts';
import type { CompanionClient } from '../companion-client/companion-client.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import { parseSize } from '../config/size.ts';
import { createClientAddresses } from '../http/client-ip.ts';
import { createOriginRules, type OriginRules } from '../http/origin.ts';
import type { RouteGroup } from '../http/route.ts';
import type { Logs } from '../logging/logger.ts';
import { createMask } from '../logging/mask.ts';
import { createCompanionStore } from '../store/companion-store.ts';
import { createApp } from './create-app.ts';

/** What route groups are made of. */
export interface HubParts {
  loaded: LoadedConfig;
  config: LoadedConfig['config'];
  companion: CompanionClient;
  origins: OriginRules;
  logs: Logs;
  /** `hub.limits.jsonBody` in bytes. */
  bodyLimit: number;
}

export interface HubAppDeps {
  loaded: LoadedConfig;
  logs: Logs;
  companion: CompanionClient;
  /** Address that the hub listens on; undefined where it listens on none (a Lambda). */
  bindHost: string | undefined;
}

/** The companion's share of a request (the count of a wrong admin key, say) may take so long; in ms. */
const STORE_TIMEOUT_MS = 2000;

/** Puts the app of a process together: the shared middleware from the configuration, and the groups on top. */
export function createHubApp(
  { loaded, logs, companion, bindHost }: HubAppDeps,
  composeGroups: (parts: HubParts) => RouteGroup[],
): Express {
  const { config } = loaded;
  const addresses = createClientAddresses(config.hub.security.trustProxy);
  const origins = createOriginRules({
    publicUrl: config.hub.publicUrl,
    corsOrigins: config.hub.cors.origins,
    addresses,
  });
  const groups = composeGroups({
    loaded,
    config,
    companion,
    origins,
    logs,
    bodyLimit: parseSize(config.hub.limits.jsonBody),
  });
  return createApp(groups, {
    hub: config.hub,
    logs,
    addresses,
    origins,
    authenticator: createAuthenticator({ enabled: config.auth.enabled, origins, bindHost }),
    adminGuard: createAdminGuard({
      admin: config.auth.admin,
      store: createCompanionStore(companion, { timeoutMs: STORE_TIMEOUT_MS }),
      logger: logs.logger('access', 'admin'),
    }),
    mask: createMask(loaded.secrets),
  });
}
