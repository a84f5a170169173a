import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

/** An HTTP service that answers nobody until it is told to: keeps calls in flight for as long as a test needs. */
export interface HeldServer {
  url: string;
  /** Requests that wait now. */
  held(): number;
  /** Answers all that wait, and all that come later, at once. */
  release(): void;
}

const servers = new Set<Server>();

afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

/** Starts one; ended with the test file. `begin` may send a head and first bytes before the wait. */
export async function startHeldServer(
  begin: (response: ServerResponse) => void = () => {},
  finish: (response: ServerResponse) => void = (response) =>
    void response.end(response.headersSent ? undefined : '{"done":true}'),
): Promise<HeldServer> {
  const waiting = new Set<ServerResponse>();
  let released = false;
  const server = createServer((request, response) => {
    request.resume();
    begin(response);
    if (released) {
      finish(response);
      return;
    }
    waiting.add(response);
    response.once('close', () => waiting.delete(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.add(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: () => waiting.size,
    release() {
      released = true;
      for (const response of waiting) finish(response);
      waiting.clear();
    },
  };
}
