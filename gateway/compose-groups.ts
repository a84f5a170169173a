import { createAdminRoutes } from '../lib/admin/routes.ts';
import { createAiRoutes } from '../lib/ai/routes.ts';
import type { HubParts } from '../lib/app/hub-app.ts';
import { createAuthRoutes } from '../lib/auth/routes.ts';
import { createDocsRoutes } from '../lib/docs/routes.ts';
import { createHealthRoutes } from '../lib/health/routes.ts';
import type { RouteGroup } from '../lib/http/route.ts';
import { createMcpRoutes } from '../lib/mcp/routes.ts';
import { createProxyRoutes } from '../lib/proxy/routes.ts';
import { createVideohostRoutes } from '../lib/videohost/routes.ts';

/**
 * All route groups of the gateway.
 * @param draining true once the gateway has begun to drain
 */
export function composeGroups(parts: HubParts, draining: () => boolean): RouteGroup[] {
  const proxies = createProxyRoutes(parts);
  return [
    createHealthRoutes({ healthCheck: parts.config.healthCheck, companion: parts.companion, draining }),
    createAuthRoutes(parts),
    createAiRoutes(parts),
    createMcpRoutes(parts),
    createVideohostRoutes({ ...parts, senderEntry: new URL('./video-sender.mjs', import.meta.url) }),
    proxies,
    createAdminRoutes({ ...parts, handOverCounts: proxies.handOverCounts }),
    createDocsRoutes(parts),
  ];
}
