import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

/** An identity API that counts its calls. Tokens `token-of-<id>` stand for `{id}`; all others are refused. */
export interface IdentityApi {
  /** Value for `auth.edapi_url`. */
  url: string;
  /** Every call as it came. */
  calls: { method: string; url: string; authorization: string | undefined; cookie: string | undefined }[];
  /** Answers in place of the usual one, until set back to undefined. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  stop(): Promise<void>;
}

const running = new Set<IdentityApi>();

afterAll(() => Promise.all([...running].map((api) => api.stop())));

/** Starts one on a free port; ended with the test file at the latest. */
export async function startIdentityApi(): Promise<IdentityApi> {
  const server = createServer((request, response) => {
    const { authorization, cookie } = request.headers;
    api.calls.push({ method: request.method ?? '', url: request.url ?? '', authorization, cookie });
    if (api.answer !== undefined) {
      api.answer(request, response);
      return;
    }
    const id = /^Bearer token-of-(\S+)$/.exec(authorization ?? '')?.[1];
    response.writeHead(id === undefined ? 401 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(id === undefined ? { error: 'unknown token' } : { id, name: `Name of ${id}` }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const api: IdentityApi = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/me?fields=id`,
    calls: [],
    answer: undefined,
    async stop() {
      running.delete(api);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  running.add(api);
  return api;
}
