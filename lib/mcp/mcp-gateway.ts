import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompanionCapability } from '../companion-client/internal-route.ts';
import type { HubToolConfig, McpConfig, McpServerConfig } from '../config/schema/tools.ts';
import { parseSize } from '../config/size.ts';
import type { Logs } from '../logging/logger.ts';
import { createAggregateCatalog } from './aggregate-catalog.ts';
import { createAggregateEndpoint } from './aggregate-endpoint.ts';
import { createAggregateMethods } from './aggregate-methods.ts';
import { createServerConnection, type ServerTiming } from './connection.ts';
import { createGate } from './gate.ts';
import { createHubServer } from './hub-server.ts';
import { createSchemaCompiler } from './input-schema.ts';
import { createInternalRoutes } from './internal-routes.ts';
import { createInvoke } from './invoke.ts';
import { createRegistry, serverStatistics } from './registry.ts';
import { createRemoteServer } from './remote-server.ts';
import { createServerTrace } from './server-trace.ts';
import { createSessions } from './sessions.ts';
import type { ServerStats, ToolServer } from './tool-server.ts';
import { createTransport, describeEndpoint, type TransportTiming } from './transports/create-transport.ts';
import { createPidFile } from './transports/pid-file.ts';

/** Times and bounds that tests shorten; milliseconds unless the name says otherwise. */
export interface McpTiming extends ServerTiming, TransportTiming {
  /** A session of `POST /mcp` without a message ends after this time. */
  sessionIdleMs: number;
}

export const DEFAULT_TIMING: McpTiming = {
  backoffBaseMs: 500,
  backoffCapMs: 60_000,
  steadyAfterMs: 30_000,
  probeEveryMs: 2_000,
  crashExits: 5,
  crashWindowMs: 60_000,
  crashRetryMs: 30_000,
  pingEveryMs: 30_000,
  pingBudgetMs: 5_000,
  retryPatienceMs: 1_000,
  killAfterMs: 300,
  socketPingMs: 30_000,
  resumeAfterMs: 1_000,
  standbyBaseMs: 1_000,
  standbyCapMs: 60_000,
  farewellMs: 1_000,
  sessionIdleMs: 30 * 60_000,
};

export interface McpGatewayDeps {
  mcp: McpConfig;
  /** `tools[]`: HTTP APIs that the hub offers as tools of the server `hub`. */
  tools: readonly HubToolConfig[];
  /** `hub.limits.jsonBody` in bytes. */
  bodyLimit: number;
  logs: Logs;
  /** Cuts configured secrets out of a text. */
  mask(text: string): string;
  /** The hub's version, told to servers and clients. */
  version: string;
  timing?: Partial<McpTiming>;
  /** Where leftover processes are recorded; a private folder. */
  runDirectory?: string;
}

/** The tool gateway as the companion runs it. */
export interface McpGateway extends CompanionCapability {
  /** `mcpConnections` of the admin API. */
  stats(): ServerStats[];
  /** Clears the counters of tools; connections stay. */
  reset(): void;
  start(): void;
  close(): Promise<void>;
}

/** Attempts of stdio servers that may run at once: a start is costly, and twenty of them at once more so. */
const SPAWNS_AT_ONCE = 4;
/** Composes the tool gateway: servers, registry, routes (contract §6). */
export function createMcpGateway(deps: McpGatewayDeps): McpGateway {
  const { mcp, logs, mask, version } = deps;
  const timing = { ...DEFAULT_TIMING, ...deps.timing };
  const log = logs.logger('tools', 'mcp');
  const compiler = createSchemaCompiler();
  const spawnGate = createGate(SPAWNS_AT_ONCE);
  const pidFile = createPidFile({
    directory: deps.runDirectory ?? join(tmpdir(), `hub-tool-servers-${process.getuid?.() ?? 0}`),
    graceMs: timing.killAfterMs,
    warn: (message) => log.warn('Tool servers are not recorded', { reason: message }),
  });

  function remoteServer(config: McpServerConfig): ToolServer {
    const trace = createServerTrace();
    const connection = createServerConnection({
      name: config.name,
      transport: createTransport(config, { pidFile, trace, timing }),
      connectTimeout: config.connectTimeout,
      gate: config.transport === 'stdio' ? spawnGate : async () => () => {},
      compiler,
      timing,
      log,
      mask,
      version,
      changed,
    });
    return createRemoteServer({
      config,
      connection,
      trace,
      endpoint: describeEndpoint(config),
      maxResultBytes: parseSize(config.maxResultSize),
      mask,
    });
  }

  function changed(): void {
    if (catalog.refresh()) aggregate.announceChange();
  }

  const own =
    deps.tools.length === 0 ? [] : [createHubServer({ tools: deps.tools, compiler, mask, version })];
  const servers = [...mcp.servers.map(remoteServer), ...own];
  const registry = createRegistry(servers);
  const invoke = createInvoke({ log, mask });
  const catalog = createAggregateCatalog(registry);
  const sessions = createSessions({ idleMs: timing.sessionIdleMs, maxSessions: 2000, maxPerCaller: 200 });
  const aggregate = createAggregateEndpoint({
    sessions,
    run: createAggregateMethods({ registry, catalog, invoke }),
    bodyLimit: deps.bodyLimit,
    version,
  });
  let reaping: Promise<unknown> = Promise.resolve();

  return {
    routes: [...createInternalRoutes({ registry, invoke, bodyLimit: deps.bodyLimit }), ...aggregate.routes],
    stats: () => serverStatistics(servers).servers,
    reset: () => {
      for (const server of servers) server.counters.reset();
    },
    start() {
      reaping = pidFile.reap().then((count) => {
        if (count > 0) log.warn('Ended tool servers that an earlier hub had left', { count });
        for (const [index, server] of servers.entries()) {
          if (mcp.servers[index]?.autoConnect) server.start();
        }
      });
    },
    announceStop: aggregate.endStreams,
    async close() {
      sessions.close();
      await reaping;
      await Promise.all(servers.map((server) => server.close()));
      pidFile.close();
    },
  };
}
