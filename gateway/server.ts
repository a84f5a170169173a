import type { IncomingMessage } from 'node:http';
import {
  createServer as createHttpServer,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { continueListener } from '../lib/http/expect-continue.ts';
import type { NodeClasses } from '../lib/http/node-classes.ts';
import { UPGRADE_OPTIONS } from '../lib/http/upgrade.ts';
import { drainServers } from '../lib/process/drain.ts';
import { type BoundAddress, listen } from '../lib/process/listen.ts';
import type { TlsMaterial } from './tls.ts';

export interface GatewayServerDeps {
  app: RequestListener;
  /** Classes that spare Express the change of prototypes. */
  classes: NodeClasses;
  /** Takes over protocol upgrades; without it they are answered as plain requests. */
  upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
  tls: TlsMaterial | undefined;
}

export interface GatewayServer {
  readonly scheme: 'http' | 'https';
  /** @throws StartFault when the address cannot be bound. */
  listen(host: string, port: number): Promise<BoundAddress>;
  /** True from the moment `drain` is called. */
  draining(): boolean;
  /** Stops accepting at once, lets requests in flight finish. Resolves with the number that was cut at the deadline. */
  drain(deadline: AbortSignal): Promise<number>;
}

/** Longer than the idle time-out of common load balancers (60 s), so that they never meet a closed connection. */
const KEEP_ALIVE_MS = 75_000;
/** Time for a whole header block. */
const HEADERS_MS = 60_000;
/** Time in which an open connection may still bring a request that was on its way when the drain began. */
const DRAIN_GRACE_MS = 150;

/** The public listener. It bounds header blocks in time; bodies have clocks of their own where they are read. */
export function createGatewayServer(deps: GatewayServerDeps): GatewayServer {
  let inFlight = 0;
  let draining = false;
  const onClosed = () => {
    inFlight -= 1;
  };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    inFlight += 1;
    response.once('close', onClosed);
    if (draining) response.shouldKeepAlive = false;
    deps.app(request, response);
  };

  const options = {
    ...deps.classes,
    ...UPGRADE_OPTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS,
    // An upload may take hours.
    requestTimeout: 0,
    noDelay: true,
  };
  const server: Server = deps.tls
    ? createHttpsServer({ ...options, ...deps.tls }, handle)
    : createHttpServer(options, handle);
  server.on('checkContinue', continueListener(handle));
  const upgraded = new Set<Duplex>();
  const { upgrade } = deps;
  if (upgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      upgraded.add(socket);
      socket.once('close', () => upgraded.delete(socket));
      upgrade(request, socket, head);
    });
  }

  async function drain(deadline: AbortSignal): Promise<number> {
    draining = true;
    const cut = await drainServers([server], { inFlight: () => inFlight, deadline, graceMs: DRAIN_GRACE_MS });
    for (const socket of upgraded) socket.destroy();
    return cut;
  }

  return {
    scheme: deps.tls ? 'https' : 'http',
    listen: (host, port) => listen(server, host, port, 'The hub cannot listen'),
    draining: () => draining,
    drain,
  };
}
