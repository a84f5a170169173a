import type { McpServerConfig } from '../config/schema/tools.ts';
import { parseSize } from '../config/size.ts';
import type { Logger } from '../logging/logger.ts';
import { ASKABLE_CAPABILITIES } from './ask-client.ts';
import { createServerConnection, type ServerTiming } from './connection.ts';
import { createGate } from './gate.ts';
import type { SchemaCompiler } from './input-schema.ts';
import { createCallQueue } from './queue.ts';
import { createRemoteServer } from './remote-server.ts';
import { createServerTrace } from './server-trace.ts';
import type { ToolServer } from './tool-server.ts';
import { createToolStats } from './tool-stats.ts';
import { createTransport, describeEndpoint, type TransportTiming } from './transports/create-transport.ts';
import type { PidFile } from './transports/pid-file.ts';

export interface CreateServersDeps {
  compiler: SchemaCompiler;
  pidFile: PidFile;
  timing: ServerTiming & TransportTiming;
  log: Logger;
  mask(text: string): string;
  version: string;
  /** A server that callers of this kind use has been listed anew. */
  changed(kind: ServerKind): void;
}

/**
 * `plain`: for callers who cannot be asked anything (REST, most MCP clients). `asking`: for MCP clients that answer
 * elicitation or sampling. They have connections of their own, because a server behaves by what its client can
 * do: one that believes it may ask would fail for everybody who cannot answer.
 */
export type ServerKind = 'plain' | 'asking';

/** One configured server, seen by both kinds of callers; filter, places and counters are shared. */
export interface ConfiguredServer {
  plain: ToolServer;
  asking: ToolServer;
}

/** Attempts of stdio servers that may run at once: a start is costly, and twenty at once more so. */
const SPAWNS_AT_ONCE = 4;

/** Makes the configured servers; nothing is connected yet. */
export function createServers(
  configs: readonly McpServerConfig[],
  deps: CreateServersDeps,
): ConfiguredServer[] {
  const { compiler, pidFile, timing, log, mask, version } = deps;
  const spawnGate = createGate(SPAWNS_AT_ONCE);
  const noGate = async () => () => {};

  return configs.map((config) => {
    const trace = createServerTrace();
    const shared = { trace, queue: createCallQueue(config), counters: createToolStats() };

    function serverFor(kind: ServerKind): ToolServer {
      const connection = createServerConnection({
        name: config.name,
        transport: createTransport(config, { pidFile, trace, timing }),
        connectTimeout: config.connectTimeout,
        gate: config.transport === 'stdio' ? spawnGate : noGate,
        compiler,
        timing,
        log,
        mask,
        version,
        capabilities: kind === 'asking' ? ASKABLE_CAPABILITIES : {},
        changed: () => deps.changed(kind),
      });
      return createRemoteServer({
        ...shared,
        config,
        connection,
        endpoint: mask(describeEndpoint(config)),
        maxResultBytes: parseSize(config.maxResultSize),
        mask,
      });
    }

    return { plain: serverFor('plain'), asking: serverFor('asking') };
  });
}

/** The connection whose facts an operator is shown: the plain one, unless only the other was ever used. */
export function shownServer({ plain, asking }: ConfiguredServer): ToolServer {
  return plain.status() === 'disconnected' && asking.status() !== 'disconnected' ? asking : plain;
}
