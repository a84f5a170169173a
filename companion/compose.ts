import { createAiLink } from '../lib/ai/ai-link.ts';
import type { CompanionCapability } from '../lib/companion-client/internal-route.ts';
import type { Environment, LoadedConfig } from '../lib/config/loaded.ts';
import { parseSize } from '../lib/config/size.ts';
import type { Logs } from '../lib/logging/logger.ts';
import { createMask } from '../lib/logging/mask.ts';
import { createMcpGateway } from '../lib/mcp/mcp-gateway.ts';
import { VERSION } from '../lib/process/version.ts';
import { createStoreCapability } from '../lib/store/internal-routes.ts';
import { createMemoryStore } from '../lib/store/memory-store.ts';
import { createUsageCounters } from '../lib/usage/counters.ts';
import { createUsageRoutes } from '../lib/usage/internal-routes.ts';

export interface ComposeCapabilitiesDeps {
  loaded: LoadedConfig;
  logs: Logs;
  outboundProxy: Environment['outboundProxy'];
}

/** Everything that lives in the companion. */
export function composeCapabilities({
  loaded,
  logs,
  outboundProxy,
}: ComposeCapabilitiesDeps): CompanionCapability[] {
  const { config, secrets } = loaded;
  const prices = new Map(config.targets.map((target) => [target.id, target.price]));
  const counters = createUsageCounters({ now: Date.now, price: (target) => prices.get(target) });
  const mask = createMask(secrets);
  const mcp = createMcpGateway({
    mcp: config.mcp,
    tools: config.tools,
    bodyLimit: parseSize(config.hub.limits.jsonBody),
    logs,
    mask,
    version: VERSION,
  });
  return [
    createAiLink({ config, usage: counters, logs, mask, outboundProxy }),
    mcp,
    createStoreCapability(createMemoryStore({ now: () => performance.now() })),
    { routes: createUsageRoutes({ counters, mcp: { connections: mcp.stats, reset: mcp.reset } }) },
  ];
}
