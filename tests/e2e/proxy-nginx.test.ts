import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { type SendOptions, send } from '../helpers/http.ts';
import { startIdentityApi } from '../helpers/identity-api.ts';
import { type Nginx, startNginx } from '../helpers/nginx.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

const FILE_BYTES = 50 * 1024 * 1024;
const bearer = { authorization: 'Bearer token-of-anna' };

let nginx: Nginx;
let upstream: Upstream;
let hub: HubProcess;

beforeAll(async () => {
  const [front, service, identity] = await Promise.all([startNginx(), startUpstream(), startIdentityApi()]);
  nginx = front;
  upstream = service;
  hub = await startHub({
    config: {
      hub: { security: { trustProxy: '127.0.0.1' } },
      proxies: [
        { id: 'files', url: nginx.serviceUrl },
        { id: 'node', url: `${upstream.url}/base` },
      ],
      auth: {
        enabled: true,
        edapi_url: identity.url,
        session: { cookie: { secret: 'session-secret-0123456789-abcdefghijkl' } },
      },
    },
    env: { HUB_HOST: '127.0.0.1' },
  });
  await nginx.front(hub.url);
});

const ask = (path: string, options: SendOptions = {}) =>
  send(nginx.frontUrl + path, {
    tls: { ca: nginx.ca },
    ...options,
    headers: { ...bearer, ...options.headers },
  });
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

test('50 MB pass both ways through nginx with TLS, the hub and a real service, byte for byte [C9-streams C9-keeps]', async () => {
  const bytes = randomBytes(FILE_BYTES);
  writeFileSync(join(nginx.files, 'down.bin'), bytes);
  const down = await ask('/proxy/files/down.bin');
  expect([down.status, down.headers['content-length']]).toEqual([200, String(FILE_BYTES)]);
  expect(sha256(down.body)).toBe(sha256(bytes));

  const part = await ask('/proxy/files/down.bin', { headers: { range: 'bytes=1000-1999' } });
  expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 1000-1999/${FILE_BYTES}`]);
  expect(part.body.equals(bytes.subarray(1000, 2000))).toBe(true);
  const unchanged = await ask('/proxy/files/down.bin', {
    headers: { 'if-none-match': down.headers.etag ?? '' },
  });
  expect(unchanged.status).toBe(304);

  const up = await ask('/proxy/files/up/new.bin', { method: 'PUT', body: bytes });
  expect(up.status).toBe(201);
  expect(sha256(readFileSync(join(nginx.files, 'up/new.bin')))).toBe(sha256(bytes));
});

test('a client behind nginx is known by its own address, scheme and host [C9-forwarded C4-cookie-attributes]', async () => {
  const { headers } = await ask('/proxy/node/x', { headers: { 'x-forwarded-for': '203.0.113.9' } });
  expect(headers['set-cookie']?.[0]).toMatch(/; Secure/);
  const host = new URL(nginx.frontUrl).host;
  expect(upstream.arrived.at(-1)?.headers).toMatchObject({
    // The stranger's word, nginx's word about the stranger, the hub's word about nginx.
    'x-forwarded-for': '203.0.113.9, 127.0.0.1, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
  });
  const record = await until('its record', () =>
    hub.logs().find((one) => one.requestId === headers['x-request-id'] && one.module === 'http'),
  );
  expect(record).toMatchObject({ clientIp: '203.0.113.9', caller: 'anna' });
});

test('a cookie session works behind TLS that nginx ends, for its own pages only [C4-cookie-cross-site]', async () => {
  const [setCookie = ''] = (await ask('/proxy/node/x')).headers['set-cookie'] ?? [];
  const [cookie = ''] = setCookie.split(';');
  const post = (origin: string) =>
    send(`${nginx.frontUrl}/proxy/node/x`, {
      method: 'POST',
      tls: { ca: nginx.ca },
      headers: { cookie, origin },
    });
  expect((await post(nginx.frontUrl)).status).toBe(200);
  expect((await post(nginx.frontUrl.replace('https', 'http'))).status).toBe(403);
});

test('a WebSocket passes nginx with TLS, the hub and the service [C9-websocket]', async () => {
  const client = new WebSocket(`${nginx.frontUrl.replace('https', 'wss')}/proxy/node/ws`, {
    ca: nginx.ca,
    headers: { ...bearer, origin: nginx.frontUrl },
  });
  const echo = await new Promise((resolve, reject) => {
    client.once('error', reject);
    client.once('message', (data) => resolve(data.toString()));
    client.once('open', () => client.send('hello'));
  });
  expect(echo).toBe('hello');
  client.terminate();
});

test('no path escapes, whatever nginx makes of it on the way [C9-base-path]', async () => {
  for (const path of [
    '/proxy/node/%2e%2e/x',
    '/proxy/node/..%2fx',
    '/proxy/node/a/..%5c..%5cx',
    '/proxy/node/..%252fx',
  ]) {
    const { status } = await ask(path);
    expect([path, status >= 400 && status < 500]).toEqual([path, true]);
  }
  expect(upstream.arrived.every(({ url }) => url.startsWith('/base/'))).toBe(true);
});
