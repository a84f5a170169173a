import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createOutboundDispatcher } from '../../../lib/http-client/outbound-dispatcher.ts';
import { startForwardProxy } from '../../helpers/forward-proxy.ts';
import { selfSigned } from '../../helpers/self-signed.ts';

let server: Server;
let ca: Buffer;
let origin: string;

beforeAll(async () => {
  const files = selfSigned();
  ca = readFileSync(files.cert);
  server = createServer({ cert: ca, key: readFileSync(files.key) }, (_request, response) => {
    response.end('there');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `https://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test.each([
  ['through a tunnel of the forward proxy', undefined, 1],
  ['directly where NO_PROXY says so', 'localhost', 0],
])('an origin behind TLS is reached %s, and its certificate is checked', async (_, no, tunnels) => {
  const proxy = await startForwardProxy();
  const via = { https: `http://${proxy.host}`, http: undefined, no };
  const trusting = createOutboundDispatcher(via, { connect: { ca } });
  const answer = await trusting.request({ origin, path: '/', method: 'GET' });
  expect(await answer.body.text()).toBe('there');
  const address = origin.slice('https://'.length);
  expect(proxy.seen).toEqual(
    Array.from({ length: tunnels }, () => ({ method: 'CONNECT', address, credentials: undefined })),
  );
  await trusting.close();

  const distrusting = createOutboundDispatcher(via, {});
  await expect(distrusting.request({ origin, path: '/', method: 'GET' })).rejects.toThrow(/self-signed/);
  await distrusting.close();
});
