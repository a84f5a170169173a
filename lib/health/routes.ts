import type { CompanionClient } from '../companion-client/companion-client.ts';
import type { Config } from '../config/schema/config-schema.ts';
import { sendJson } from '../http/json-response.ts';
import type { Route, RouteGroup } from '../http/route.ts';

/** The companion answers its liveness within this time, or the hub is not ready; in ms. */
const PROBE_TIMEOUT = 2000;

const NO_STORE = { 'cache-control': 'no-store' };

export interface HealthDeps {
  healthCheck: Config['healthCheck'];
  companion: Pick<CompanionClient, 'status' | 'probe'>;
  /** True from the first SIGTERM on. */
  draining: () => boolean;
  /** Milliseconds; default 2000. */
  probeTimeout?: number;
}

/**
 * Liveness and readiness (spec §4.1, contract §3). Liveness says only that the process answers. Readiness is refused
 * from the moment that the companion's exit is seen, and given only when the companion itself answers.
 */
export function createHealthRoutes(deps: HealthDeps): RouteGroup {
  const { healthCheck, companion, draining, probeTimeout = PROBE_TIMEOUT } = deps;

  async function unreadiness(): Promise<string | undefined> {
    if (draining()) return 'The hub is shutting down';
    const { status } = companion.status();
    if (status !== 'up') return `AI-Link is ${status}`;
    if (!(await companion.probe(probeTimeout))) return 'AI-Link does not answer';
    // It may have exited, or the hub been stopped, while the probe was on its way.
    if (draining()) return 'The hub is shutting down';
    return companion.status().status === 'up' ? undefined : 'AI-Link is down';
  }

  const routes: Route[] = [
    {
      method: 'GET',
      path: healthCheck.path,
      access: 'public',
      handler: (_request, response) => sendJson(response, 200, { status: 'ok' }, NO_STORE),
    },
    {
      method: 'GET',
      path: healthCheck.readinessPath,
      access: 'public',
      async handler(_request, response) {
        const error = await unreadiness();
        if (error === undefined) sendJson(response, 200, { status: 'ready' }, NO_STORE);
        else sendJson(response, 503, { status: 'unavailable', error }, NO_STORE);
      },
    },
  ];
  return { name: 'health', prefixes: [], routes: healthCheck.enabled ? routes : [] };
}
