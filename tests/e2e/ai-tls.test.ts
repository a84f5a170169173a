import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ForwardProxy, startForwardProxy } from '../helpers/forward-proxy.ts';
import { send } from '../helpers/http.ts';
import { completion } from '../helpers/misbehaving-provider.ts';
import { selfSigned } from '../helpers/self-signed.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';

/** Providers behind TLS, as they all are outside of tests: directly, and through a forward proxy. */
let files: ReturnType<typeof selfSigned>;
let provider: Server;
let proxy: ForwardProxy;
const hubs: HubProcess[] = [];

/** What the provider saw of each connection. */
const greetings: { servername: string | false; alpn: string | false | null; isReused: boolean }[] = [];

beforeAll(async () => {
  files = selfSigned();
  provider = createServer(
    {
      key: readFileSync(files.key),
      cert: readFileSync(files.cert),
      ALPNProtocols: ['h2', 'http/1.1'],
    },
    (request, response) => {
      request.resume();
      // Each call has a connection of its own.
      response.setHeader('connection', 'close');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(completion));
    },
  );
  provider.on('secureConnection', (socket: TLSSocket & { servername?: string | false }) => {
    greetings.push({
      servername: socket.servername ?? false,
      alpn: socket.alpnProtocol,
      isReused: socket.isSessionReused(),
    });
  });
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  proxy = await startForwardProxy();
});

afterAll(async () => {
  await Promise.all(hubs.map((hub) => hub.stop()));
  provider?.closeAllConnections();
  provider?.close();
});

const port = () => (provider.address() as AddressInfo).port;

async function start(host: string, env: Record<string, string>): Promise<HubProcess> {
  const hub = await startHub({
    config: {
      targets: [
        {
          id: 'safe',
          provider: 'openai-compatible',
          baseUrl: `https://${host}:${port()}/v1`,
          apiKey: 'sk-0123456789',
          options: { model: 'm' },
        },
      ],
    },
    env,
  });
  hubs.push(hub);
  return hub;
}

const ask = (hub: HubProcess) =>
  send(`${hub.url}/v1/chat/completions`, {
    json: { messages: [{ role: 'user', content: 'Hi' }] },
    headers: { 'x-target': 'safe' },
  });

const trusted = () => ({ NODE_EXTRA_CA_CERTS: files.cert });

test('a provider behind TLS is asked for by name, by HTTP/1.1, and with the session of the last connection', async () => {
  const hub = await start('localhost', trusted());
  greetings.length = 0;
  expect((await ask(hub)).status).toBe(200);
  expect((await ask(hub)).status).toBe(200);
  const greeting = { servername: 'localhost', alpn: 'http/1.1' };
  expect(greetings).toEqual([
    { ...greeting, isReused: false },
    { ...greeting, isReused: true },
  ]);
});

test('a forward proxy gets its password and the name of the provider, and sees nothing more', async () => {
  const hub = await start('localhost', {
    ...trusted(),
    HTTPS_PROXY: `http://user:pass%21@${proxy.host}`,
  });
  expect((await ask(hub)).status).toBe(200);
  const credentials = `Basic ${Buffer.from('user:pass!').toString('base64')}`;
  expect(proxy.seen).toEqual([{ method: 'CONNECT', address: `localhost:${port()}`, credentials }]);
});

test.each([
  ['that nobody vouches for', 'localhost', false],
  ['of another name', '127.0.0.1', true],
])('a certificate %s is 502, directly and through a proxy [C5-err-5xx]', async (_, host, isTrusted) => {
  const env = isTrusted ? trusted() : {};
  for (const more of [{}, { HTTPS_PROXY: `http://${proxy.host}` }]) {
    const answer = await ask(await start(host, { ...env, ...more }));
    expect([answer.status, answer.json().error.code]).toEqual([502, 'upstream_unavailable']);
  }
});
