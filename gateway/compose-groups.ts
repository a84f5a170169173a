import type { CompanionClient } from '../lib/companion-client/companion-client.ts';
import type { LoadedConfig } from '../lib/config/loaded.ts';
import { createHealthRoutes } from '../lib/health/routes.ts';
import type { RouteGroup } from '../lib/http/route.ts';
import type { Logs } from '../lib/logging/logger.ts';

export interface ComposeGroupsDeps {
  loaded: LoadedConfig;
  logs: Logs;
  companion: CompanionClient;
  /** True once the gateway has begun to drain. */
  draining(): boolean;
}

/** All route groups of the gateway. */
export function composeGroups({ loaded, companion, draining }: ComposeGroupsDeps): RouteGroup[] {
  const { config } = loaded;
  return [createHealthRoutes({ healthCheck: config.healthCheck, companion, draining })];
}
