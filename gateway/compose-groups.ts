import { createAdminRoutes } from '../lib/admin/routes.ts';
import { createAiRoutes } from '../lib/ai/routes.ts';
import type { CompanionClient } from '../lib/companion-client/companion-client.ts';
import type { LoadedConfig } from '../lib/config/loaded.ts';
import { parseSize } from '../lib/config/size.ts';
import { createHealthRoutes } from '../lib/health/routes.ts';
import type { OriginRules } from '../lib/http/origin.ts';
import type { RouteGroup } from '../lib/http/route.ts';
import type { Logs } from '../lib/logging/logger.ts';
import { createMcpRoutes } from '../lib/mcp/routes.ts';

export interface ComposeGroupsDeps {
  loaded: LoadedConfig;
  logs: Logs;
  companion: CompanionClient;
  origins: OriginRules;
  /** True once the gateway has begun to drain. */
  draining(): boolean;
}

/** All route groups of the gateway. */
export function composeGroups({
  loaded,
  logs,
  companion,
  origins,
  draining,
}: ComposeGroupsDeps): RouteGroup[] {
  const { config } = loaded;
  const bodyLimit = parseSize(config.hub.limits.jsonBody);
  return [
    createHealthRoutes({ healthCheck: config.healthCheck, companion, draining }),
    createAiRoutes({ companion, bodyLimit }),
    createMcpRoutes({ companion, origins, bodyLimit }),
    createAdminRoutes({ loaded, companion, logs }),
  ];
}
