import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { completion } from '../helpers/misbehaving-provider.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';

/** Providers behind TLS, as they all are outside of tests: directly, and through a forward proxy. */
let directory: string;
let provider: Server;
let proxy: ReturnType<typeof createHttpServer>;
const hubs: HubProcess[] = [];
const sockets = new Set<Duplex>();

/** What the provider saw of each connection. */
const greetings: { servername: string | false; alpn: string | false | null; isReused: boolean }[] = [];
/** What the proxy was asked for. */
const tunnels: string[] = [];

beforeAll(async () => {
  directory = temporaryFolder();
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', ['req', '-x509', ...key, ...names, '-keyout', 'key.pem', '-out', 'cert.pem'], {
    cwd: directory,
    stdio: 'ignore',
  });
  provider = createServer(
    {
      key: readFileSync(join(directory, 'key.pem')),
      cert: readFileSync(join(directory, 'cert.pem')),
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
  proxy = createHttpServer();
  proxy.on('connect', ({ url = '', headers }, socket: Duplex) => {
    tunnels.push(`${url} ${headers['proxy-authorization'] ?? ''}`);
    const far = connect((provider.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    for (const end of [far, socket]) {
      sockets.add(end);
      end.on('error', () => {});
    }
  });
  for (const server of [provider, proxy]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
});

afterAll(async () => {
  await Promise.all(hubs.map((hub) => hub.stop()));
  for (const socket of sockets) socket.destroy();
  provider?.closeAllConnections();
  proxy?.closeAllConnections();
  provider?.close();
  proxy?.close();
});

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

async function start(host: string, env: Record<string, string>): Promise<HubProcess> {
  const hub = await startHub({
    config: {
      targets: [
        {
          id: 'safe',
          provider: 'openai-compatible',
          baseUrl: `https://${host}:${portOf(provider)}/v1`,
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

const trusted = () => ({ NODE_EXTRA_CA_CERTS: join(directory, 'cert.pem') });

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
    HTTPS_PROXY: `http://user:pass%21@127.0.0.1:${portOf(proxy)}`,
  });
  expect((await ask(hub)).status).toBe(200);
  expect(tunnels).toEqual([
    `localhost:${portOf(provider)} Basic ${Buffer.from('user:pass!').toString('base64')}`,
  ]);
});

test.each([
  ['that nobody vouches for', 'localhost', false],
  ['of another name', '127.0.0.1', true],
])('a certificate %s is 502, directly and through a proxy [C5-err-5xx]', async (_, host, isTrusted) => {
  const env = isTrusted ? trusted() : {};
  for (const more of [{}, { HTTPS_PROXY: `http://127.0.0.1:${portOf(proxy)}` }]) {
    const answer = await ask(await start(host, { ...env, ...more }));
    expect([answer.status, answer.json().error.code]).toEqual([502, 'upstream_unavailable']);
  }
});
