import { HubError } from '../errors/hub-error.ts';
import { isUp } from './connection-state.ts';
import type { Tool } from './tool-catalog.ts';
import type { ServerStats, ToolServer } from './tool-server.ts';

/** All tool servers by name, in the order of the configuration. */
export interface ToolRegistry {
  readonly servers: readonly ToolServer[];
  /** @throws HubError `server_not_found`. */
  find(name: string): ToolServer;
  /**
   * Prepares a listing: begins first attempts, side by side, and waits for those that still run; never for a server
   * that failed.
   */
  prepareListing(servers: readonly ToolServer[]): Promise<void>;
}

export function createRegistry(servers: readonly ToolServer[]): ToolRegistry {
  const byName = new Map(servers.map((server) => [server.name, server]));
  return {
    servers,
    find(name) {
      const server = byName.get(name);
      if (server === undefined)
        throw new HubError('server_not_found', 'There is no tool server of this name');
      return server;
    },
    async prepareListing(wanted) {
      for (const server of wanted) server.refresh();
      await Promise.all(wanted.map((server) => server.firstAttempt()));
    },
  };
}

/** The tools of a server that callers may see. */
export function visibleTools(server: ToolServer): Tool[] {
  return [...(server.catalog()?.tools.values() ?? [])].filter(({ name }) => server.exposes(name));
}

/** Body of `GET /mcp/tools` (contract §6). */
export function toolListing(servers: readonly ToolServer[]) {
  const listed = servers.map((server) => ({ server, tools: visibleTools(server) }));
  const tools = listed.flatMap(({ server, tools }) => tools.map((tool) => toolEntry(server.name, tool)));
  return {
    tools,
    servers: listed.map(({ server, tools }) => {
      const error = server.lastErrorMessage();
      return {
        name: server.name,
        status: server.status(),
        toolCount: tools.length,
        stale: !isUp(server.status()),
        ...(error !== undefined && { error }),
      };
    }),
    total: tools.length,
  };
}

function toolEntry(server: string, { name, definition }: Tool) {
  const { title, description, inputSchema, outputSchema, annotations } = definition;
  return {
    server,
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** Body of `GET /mcp/stats` (contract §6). */
export function serverStatistics(servers: readonly ToolServer[]) {
  const all = servers.map((server) => server.stats());
  const having = (...statuses: ServerStats['status'][]) =>
    all.filter(({ status }) => statuses.includes(status)).length;
  const sum = (of: (stats: ServerStats) => number) => all.reduce((total, stats) => total + of(stats), 0);
  return {
    summary: {
      total: all.length,
      connected: having('connected', 'degraded'),
      connecting: having('connecting'),
      backoff: having('backoff'),
      error: having('error'),
      toolsTotal: servers.reduce((total, server) => total + visibleTools(server).length, 0),
      invocations: sum(({ invocations }) => invocations),
      errors: sum(({ errors }) => Object.values(errors).reduce((total, count) => total + count, 0)),
    },
    servers: all,
  };
}
