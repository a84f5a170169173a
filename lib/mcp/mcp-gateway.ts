import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CompanionCapability } from '../companion-client/internal-route.ts';
import type { HubToolConfig, McpConfig, McpServerConfig } from '../config/schema/tools.ts';
import { parseSize } from '../config/size.ts';
import type { Logs } from '../logging/logger.ts';
import { createServerConnection, type ServerTiming } from './connection.ts';
import { createGate } from './gate.ts';
import { createSchemaCompiler } from './input-schema.ts';
import { createInternalRoutes } from './internal-routes.ts';
import { createInvoke } from './invoke.ts';
import { createRegistry, serverStatistics } from './registry.ts';
import { createRemoteServer } from './remote-server.ts';
import { createServerTrace } from './server-trace.ts';
import type { ServerStats, ToolServer } from './tool-server.ts';
import { createPidFile } from './transports/pid-file.ts';
import { stdioTransport } from './transports/stdio.ts';
import type { ServerTrace, TransportFactory } from './transports/transport.ts';

/** Times and bounds that tests shorten; milliseconds unless the name says otherwise. */
export interface McpTiming extends ServerTiming {
  /** Between TERM and KILL of a stdio server. */
  killAfterMs: number;
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
/** Protocol messages that are no results are never longer than this. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

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

  function transportOf(config: McpServerConfig, trace: ServerTrace): TransportFactory {
    const maxMessageBytes = Math.max(MAX_MESSAGE_BYTES, parseSize(config.maxResultSize)) + 65_536;
    return stdioTransport({
      command: config.command ?? '',
      args: config.args,
      env: config.env,
      maxLineBytes: maxMessageBytes,
      killAfterMs: timing.killAfterMs,
      pidFile,
      trace,
    });
  }

  function remoteServer(config: McpServerConfig): ToolServer {
    const trace = createServerTrace();
    const connection = createServerConnection({
      name: config.name,
      transport: transportOf(config, trace),
      connectTimeout: config.connectTimeout,
      gate: config.transport === 'stdio' ? spawnGate : async () => () => {},
      compiler,
      timing,
      log,
      mask,
      version,
      changed: () => {},
    });
    return createRemoteServer({
      config,
      connection,
      trace,
      endpoint: config.command ?? '',
      maxResultBytes: parseSize(config.maxResultSize),
      mask,
    });
  }

  const servers = mcp.servers.map(remoteServer);
  const registry = createRegistry(servers);
  const invoke = createInvoke({ log, mask });
  let reaping: Promise<unknown> = Promise.resolve();

  return {
    routes: createInternalRoutes({ registry, invoke, bodyLimit: deps.bodyLimit }),
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
    async close() {
      await reaping;
      await Promise.all(servers.map((server) => server.close()));
      pidFile.close();
    },
  };
}
