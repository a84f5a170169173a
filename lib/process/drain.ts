import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often connections that have fallen idle are looked for while a server drains. */
const LOOK_EVERY_MS = 20;

export interface DrainOptions {
  /** Requests being answered now. */
  inFlight(): number;
  /** Ends the wait; what is still in flight then is cut. */
  deadline: AbortSignal;
  /** How long open connections may still bring a request that was on its way, in ms. */
  graceMs: number;
}

/**
 * Ends HTTP servers in order: no new connections from now on, requests in flight finish, then every connection
 * is closed. Open idle connections stay until the last request has finished, so that whoever holds one still
 * gets an answer (a 503 from the readiness path). Resolves with the number of requests that were cut.
 */
export async function drainServers(servers: readonly Server[], options: DrainOptions): Promise<number> {
  // Not the HTTP server's own close: that one also drops idle connections, at once.
  for (const server of servers) NetServer.prototype.close.call(server);
  const graceEnds = performance.now() + options.graceMs;
  while (!options.deadline.aborted && (options.inFlight() > 0 || performance.now() < graceEnds)) {
    await sleep(LOOK_EVERY_MS);
  }
  const cut = options.inFlight();
  for (const server of servers) server.closeAllConnections();
  return cut;
}
