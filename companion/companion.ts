import type { CompanionCapability } from '../lib/companion-client/internal-route.ts';
import type { PrivateSockets } from '../lib/companion-client/process-messages.ts';
import type { LoadedConfig } from '../lib/config/loaded.ts';
import type { Logs } from '../lib/logging/logger.ts';
import { drainServers } from '../lib/process/drain.ts';
import { type BoundAddress, listen, listenOnSocket } from '../lib/process/listen.ts';
import { createCompanionServer } from './server.ts';

export interface CompanionDeps {
  loaded: LoadedConfig;
  token: string;
  capabilities: readonly CompanionCapability[];
  logs: Logs;
}

export interface Companion {
  /**
   * Binds the internal port, and the private socket where there is one, then begins what runs by itself.
   * @throws StartFault naming what cannot be bound.
   */
  start(address: { host: string; port: number; sockets: PrivateSockets | null }): Promise<BoundAddress>;
  /** Ends what never ends by itself (standing event streams), because a stop is near. */
  announceStop(): void;
  /** Lets calls in flight finish (at most `timeoutMs`), then ends the tool servers. Never rejects. */
  stop(timeoutMs: number): Promise<void>;
  /** Ends the tool servers at once, calls in flight or not. Never rejects. */
  abandon(): Promise<void>;
}

/** The companion as a whole: its server and its capabilities, started and ended together. */
export function createCompanion(deps: CompanionDeps): Companion {
  const { loaded, token, capabilities, logs } = deps;
  const logger = logs.logger('error', 'companion');
  const { servers, channel, inFlight } = createCompanionServer({
    token,
    routes: capabilities.flatMap((capability) => capability.routes),
    health: { status: 'ok', pid: process.pid, configHash: loaded.hash },
    logger,
  });

  async function start(address: Parameters<Companion['start']>[0]): Promise<BoundAddress> {
    if (address.sockets !== null) {
      await listenOnSocket(servers.socket, address.sockets.http);
      await listenOnSocket(channel.server, address.sockets.calls);
    }
    const bound = await listen(servers.port, address.host, address.port, 'AI-Link cannot listen');
    for (const capability of capabilities) capability.start?.();
    return bound;
  }

  async function abandon(): Promise<void> {
    for (const connections of [servers.socket, servers.port, channel]) connections.closeAllConnections();
    const results = await Promise.allSettled(capabilities.map((capability) => capability.close?.()));
    for (const result of results) {
      if (result.status === 'rejected')
        logger.error('A part of AI-Link did not end well', { cause: String(result.reason) });
    }
    await logs.close();
  }

  async function stop(timeoutMs: number): Promise<void> {
    announceStop();
    const deadline = AbortSignal.timeout(timeoutMs);
    const cut = await drainServers([servers.socket, servers.port], { inFlight, deadline, graceMs: 0 });
    if (cut > 0) logger.warn('Calls were cut at the end of the shutdown time', { calls: cut });
    await abandon();
  }

  function announceStop(): void {
    for (const capability of capabilities) capability.announceStop?.();
  }

  return { start, announceStop, stop, abandon };
}
