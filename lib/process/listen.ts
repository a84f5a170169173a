import type { Server } from 'node:net';
import { inWords, StartFault } from './start-fault.ts';

export interface BoundAddress {
  host: string;
  port: number;
}

/**
 * Binds a server to a TCP address and resolves with the address as bound (port 0 takes a free one).
 * @throws StartFault naming `what`, host and port when they cannot be bound.
 */
export function listen(server: Server, host: string, port: number, what: string): Promise<BoundAddress> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => {
      reject(new StartFault(`${what}: ${originHost(host)}:${port} ${inWords(error)}`, { cause: error }));
    };
    server.once('error', onError);
    server.listen({ host, port }, () => {
      server.off('error', onError);
      const address = server.address();
      if (address === null || typeof address === 'string') {
        reject(new StartFault(`${what}: ${host}:${port} gave no address`));
        return;
      }
      resolve({ host: address.address, port: address.port });
    });
  });
}

/** Binds a server to a unix socket that lies in a private directory; a stale one must be gone by then. */
export function listenOnSocket(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) =>
      reject(new StartFault(`AI-Link: the socket ${path} ${inWords(error)}`, { cause: error }));
    server.once('error', onError);
    server.listen({ path }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

/** `http://127.0.0.1:3000`, with an IPv6 address in brackets. */
export function originOf(scheme: 'http' | 'https', address: BoundAddress): string {
  return `${scheme}://${originHost(address.host)}:${address.port}`;
}

function originHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
