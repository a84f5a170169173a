import type { HubToolConfig } from '../config/schema/tools.ts';
import { ToolFailure } from './failure.ts';
import { compileHubTool, type HubToolCall } from './hub-tool-call.ts';
import type { SchemaCompiler } from './input-schema.ts';
import { type CallQueue, createCallQueue } from './queue.ts';
import { createCatalogBuilder } from './tool-catalog.ts';
import type { ServerStats, ToolServer } from './tool-server.ts';
import { createToolStats, toolRows } from './tool-stats.ts';
import { createHttpClient } from './transports/http-client.ts';

/** Name of the server that offers `tools[]`; the configuration keeps it free (contract §6). */
export const HUB_SERVER = 'hub';

/** Calls of one tool at once and waiting, so that a slow API holds up only itself. */
const PLACES = { maxConcurrency: 32, maxQueue: 128 };

export interface HubServerDeps {
  tools: readonly HubToolConfig[];
  compiler: SchemaCompiler;
  mask(text: string): string;
  version: string;
  now?(): number;
}

/** The hub's own tools: HTTP APIs that become tools by configuration alone. Always connected. */
export function createHubServer(deps: HubServerDeps): ToolServer {
  const { now = Date.now, mask } = deps;
  const startedAt = now();
  const http = createHttpClient();
  const counters = createToolStats(now);
  const calls = new Map<string, { run: HubToolCall; queue: CallQueue; timeout: number }>();

  const builder = createCatalogBuilder(deps.compiler);
  for (const tool of deps.tools) {
    const { name, description, inputSchema } = tool;
    try {
      const run = compileHubTool(tool, { http, mask });
      calls.set(name, { run, queue: createCallQueue(PLACES), timeout: tool.timeout });
      builder.addOne({ name, description, inputSchema });
    } catch (error) {
      builder.reject(name, error instanceof Error ? error.message : String(error));
    }
  }
  const catalog = builder.catalog();
  const exposes = () => true;

  function sum(of: (queue: CallQueue) => number): number {
    return [...calls.values()].reduce((total, { queue }) => total + of(queue), 0);
  }

  function stats(): ServerStats {
    return {
      name: HUB_SERVER,
      transport: 'internal',
      autoConnect: true,
      status: 'connected',
      healthy: true,
      serverInfo: { name: HUB_SERVER, version: deps.version },
      protocolVersion: null,
      endpoint: null,
      connectedAt: new Date(startedAt).toISOString(),
      uptimeSeconds: Math.floor((now() - startedAt) / 1000),
      lastPingMs: null,
      lastError: null,
      restarts: 0,
      consecutiveFailures: 0,
      crashLoop: false,
      nextRetryAt: null,
      inFlight: sum((queue) => queue.inFlight()),
      queued: sum((queue) => queue.queued()),
      invocations: counters.invocations(),
      errors: counters.errors(),
      latencyMs: counters.latency(),
      tools: toolRows(catalog, exposes, counters),
      invalidTools: catalog.invalid.map(({ name, reason }) => ({ name, reason: mask(reason) })),
      stderrTail: [],
    };
  }

  return {
    name: HUB_SERVER,
    exposes,
    counters,
    status: () => 'connected',
    catalog: () => catalog,
    firstAttempt: () => undefined,
    refresh() {},
    ready: async () => {},
    async call(tool, args, options) {
      const call = calls.get(tool.name);
      if (call === undefined) throw new ToolFailure('tool', 'unknown_tool', 'The hub has no such tool');
      await call.queue.enter(options.signal, call.timeout);
      try {
        return await call.run(args, options);
      } finally {
        call.queue.leave();
      }
    },
    lastErrorMessage: () => undefined,
    stats,
    start() {},
    close: http.close,
  };
}
