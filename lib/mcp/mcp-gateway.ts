import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompanionCapability } from '../companion-client/internal-route.ts';
import type { HubToolConfig, McpConfig } from '../config/schema/tools.ts';
import type { Logs } from '../logging/logger.ts';
import { createAggregateCatalog } from './aggregate-catalog.ts';
import { createAggregateEndpoint } from './aggregate-endpoint.ts';
import { createAggregateMethods, type Offer } from './aggregate-methods.ts';
import type { ServerTiming } from './connection.ts';
import { createServers, type ServerKind, shownServer } from './create-servers.ts';
import { createHubServer } from './hub-server.ts';
import { createSchemaCompiler } from './input-schema.ts';
import { createInternalRoutes } from './internal-routes.ts';
import { createInvoke } from './invoke.ts';
import { createRegistry, serverStatistics } from './registry.ts';
import { createSessions, type Session } from './sessions.ts';
import type { ServerStats } from './tool-server.ts';
import type { TransportTiming } from './transports/create-transport.ts';
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
  relistAfterMs: 60_000,
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

const MAX_SESSIONS = 2000;
const MAX_SESSIONS_PER_CALLER = 200;

/** Composes the tool gateway: servers, registry, routes (contract §6). */
export function createMcpGateway(deps: McpGatewayDeps): McpGateway {
  const { mcp, logs, mask, version, bodyLimit } = deps;
  const timing = { ...DEFAULT_TIMING, ...deps.timing };
  const log = logs.logger('tools', 'mcp');
  const compiler = createSchemaCompiler();
  const pidFile = createPidFile({
    directory: deps.runDirectory ?? join(tmpdir(), `hub-tool-servers-${process.getuid?.() ?? 0}`),
    graceMs: timing.killAfterMs,
    warn: (message) => log.warn('Tool servers are not recorded', { reason: message }),
  });

  const configured = createServers(mcp.servers, { compiler, pidFile, timing, log, mask, version, changed });
  const own =
    deps.tools.length === 0 ? [] : [createHubServer({ tools: deps.tools, compiler, mask, version })];
  const offers = { plain: offer('plain'), asking: offer('asking') };
  const invoke = createInvoke({ log, mask });
  const sessions = createSessions({
    idleMs: timing.sessionIdleMs,
    maxSessions: MAX_SESSIONS,
    maxPerCaller: MAX_SESSIONS_PER_CALLER,
  });
  const run = createAggregateMethods({ offerFor: (session) => offers[kindOf(session)], invoke });
  const aggregate = createAggregateEndpoint({ sessions, run, bodyLimit, version });
  let reaping: Promise<unknown> = Promise.resolve();

  function offer(kind: ServerKind): Offer {
    const registry = createRegistry([...configured.map((server) => server[kind]), ...own]);
    return { registry, catalog: createAggregateCatalog(registry) };
  }

  function changed(kind: ServerKind): void {
    if (offers[kind].catalog.refresh()) aggregate.announceChange((session) => kindOf(session) === kind);
  }

  const shown = () => [...configured.map(shownServer), ...own];
  return {
    routes: [
      ...createInternalRoutes({ registry: offers.plain.registry, shown, invoke, bodyLimit }),
      ...aggregate.routes,
    ],
    stats: () => serverStatistics(shown()).servers,
    reset: () => {
      for (const server of shown()) server.counters.reset();
    },
    start() {
      reaping = pidFile.reap().then((count) => {
        if (count > 0) log.warn('Ended tool servers that an earlier hub had left', { count });
        for (const [index, { autoConnect }] of mcp.servers.entries()) {
          if (autoConnect) configured[index]?.plain.start();
        }
      });
    },
    announceStop: aggregate.endStreams,
    async close() {
      sessions.close();
      await reaping;
      const all = [...configured.flatMap(({ plain, asking }) => [plain, asking]), ...own];
      await Promise.all(all.map((server) => server.close()));
      pidFile.close();
    },
  };
}

function kindOf({ askable }: Session): ServerKind {
  return askable.size > 0 ? 'asking' : 'plain';
}
