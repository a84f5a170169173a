import { openSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createCompanionServer } from '../../../companion/server.ts';
import { createAdminRoutes } from '../../../lib/admin/routes.ts';
import { type AppDeps, createApp } from '../../../lib/app/create-app.ts';
import { createAdminGuard } from '../../../lib/auth/admin-key.ts';
import { createAuthenticator } from '../../../lib/auth/authenticator.ts';
import { createCompanionClient } from '../../../lib/companion-client/create-client.ts';
import { loadConfig } from '../../../lib/config/load.ts';
import { createClientAddresses } from '../../../lib/http/client-ip.ts';
import { createOriginRules } from '../../../lib/http/origin.ts';
import { createLogs } from '../../../lib/logging/create-logs.ts';
import { createMask } from '../../../lib/logging/mask.ts';
import { createMemoryStore } from '../../../lib/store/memory-store.ts';
import { createUsageCounters } from '../../../lib/usage/counters.ts';
import { createUsageRoutes } from '../../../lib/usage/internal-routes.ts';
import type { McpServerFacts } from '../../../lib/usage/metrics.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';
import { closeServers, listen } from '../http/serve.ts';

export const ADMIN_KEY = 'unit-test-admin-key-0123456789-abcdef';
const TOKEN = 'unit-test-companion-token-0123456789';

export interface AdminOptions {
  /** Merged over a small configuration with admin on. */
  config?: Record<string, unknown>;
  env?: Record<string, string>;
  /** Rows of `mcpConnections`. */
  connections?: readonly (McpServerFacts & Record<string, unknown>)[];
  /** False leaves the companion's port closed. */
  companion?: boolean;
  deps?: Partial<AppDeps>;
}

/** The admin API over a real companion's usage routes, in this process: what the gateway puts together. */
export async function serveAdmin(options: AdminOptions = {}) {
  const directory = temporaryFolder();
  const path = join(directory, 'config.yaml');
  const config = {
    auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
    ...options.config,
  };
  writeFileSync(path, JSON.stringify(config));
  const loaded = loadConfig({ path, env: options.env ?? {} });
  const consolePath = join(directory, 'console');
  const logs = createLogs({
    config: loaded.config.logging,
    secrets: loaded.secrets,
    consoleFd: openSync(consolePath, 'a'),
    flushAfterMs: 0,
  });

  const counters = createUsageCounters({ now: Date.now });
  const mcp = {
    connections: () => options.connections ?? [],
    resets: 0,
    reset() {
      mcp.resets += 1;
    },
  };
  const { servers } = createCompanionServer({
    token: TOKEN,
    routes: createUsageRoutes({ counters, mcp }),
    health: { status: 'ok', pid: process.pid, configHash: loaded.hash },
    logger: logs.logger('error', 'companion'),
  });
  await new Promise<void>((resolve) => servers.port.listen(0, '127.0.0.1', resolve));
  const { port } = servers.port.address() as AddressInfo;
  if (options.companion === false) servers.port.close();
  const companion = createCompanionClient({ address: { url: `http://127.0.0.1:${port}` }, token: TOKEN });

  const addresses = createClientAddresses(loaded.config.hub.security.trustProxy);
  const origins = createOriginRules({ publicUrl: undefined, corsOrigins: [], addresses });
  let handedOver = 0;
  const store = createMemoryStore({ now: () => performance.now() });
  const app = createApp(
    [
      createAdminRoutes({
        loaded,
        companion,
        logs,
        handOverCounts: async () => {
          handedOver += 1;
        },
      }),
    ],
    {
      hub: {
        limits: { concurrency: 100, queue: 100, perCaller: 100 },
        cors: { origins: [] },
        tls: { enabled: false },
      },
      logs,
      addresses,
      origins,
      authenticator: createAuthenticator({ enabled: false, origins, bindHost: '127.0.0.1' }),
      adminGuard: createAdminGuard({
        admin: loaded.config.auth.admin,
        store,
        logger: logs.logger('access', 'admin'),
      }),
      mask: createMask(loaded.secrets),
      ...options.deps,
    },
  );
  const url = await listen(app);
  return {
    url,
    counters,
    mcp,
    store,
    loaded,
    logs,
    handedOver: () => handedOver,
    /** Everything written to the console so far. */
    console: () => readFileSync(consolePath, 'utf8'),
    records: () =>
      readFileSync(consolePath, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    async close() {
      closeServers();
      servers.port.close();
      servers.port.closeAllConnections();
      await companion.close();
      await store.close();
      await logs.close();
    },
  };
}

/** A row of `GET /mcp/stats`. */
export const connection = (more: Record<string, unknown> = {}): McpServerFacts & Record<string, unknown> => ({
  name: 'files',
  transport: 'stdio',
  healthy: true,
  restarts: 1,
  inFlight: 0,
  invocations: 4,
  errors: { tool: 1, timeout: 0, transport: 0, protocol: 0, cancelled: 0 },
  latencyMs: { avg: 10, min: 5, max: 20, p50: 10, p95: 20, p99: 20 },
  tools: [{ name: 'read', invocations: 4, errors: 1 }],
  ...more,
});
