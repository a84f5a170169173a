import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readBody } from '../../../lib/http/body.ts';
import type { RouteGroup } from '../../../lib/http/route.ts';
import { ASKS_BEFOREHAND } from '../../../lib/http/upgrade.ts';
import { sendRaw } from '../../helpers/http.ts';
import { until } from '../../helpers/until.ts';
import { type AppOptions, bearerOnly, closeServers, serve } from './serve.ts';

afterEach(closeServers);

const echoSocket: RouteGroup = {
  name: 'proxy',
  prefixes: [{ path: '/proxy', access: 'main' }],
  routes: [
    { method: 'ALL', path: '/proxy/*rest', handler: (_request, response) => void response.end('plain') },
    {
      method: 'POST',
      path: '/size',
      access: 'public',
      async handler(request, response) {
        const body = await readBody(request, { limit: 1e7 });
        response.end(`size ${body.length} at ${request.hub.clientIp}`);
      },
    },
  ],
  upgrade(_request, socket, head, caller) {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    socket.write(`hello ${caller.label} ${head}`);
    socket.end();
  },
};

const head = (path: string, extra = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${extra}\r\n`;

const ask = async (options: AppOptions, request: string) => {
  const { url, records } = await serve([echoSocket], options);
  return { answer: await sendRaw(url, request), records };
};

describe('a WebSocket upgrade', () => {
  test('reaches the group that covers its path, with the caller and the first bytes', async () => {
    const { answer, records } = await ask(
      { deps: { authenticator: bearerOnly } },
      `${head('/proxy/x?y=1', 'Authorization: Bearer good\r\n')}bytes`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 101 [\s\S]+hello anna bytes$/);
    await until('its record', () => records.length === 1);
    expect(records[0]?.fields).toMatchObject({ status: 101, path: '/proxy/x', caller: 'anna' });
  });

  test('passes the same gate as a request', async () => {
    const closed = { deps: { authenticator: bearerOnly } };
    const refused = await ask(closed, head('/proxy/x'));
    expect(refused.answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n/);
    expect(refused.answer).toMatch(/www-authenticate: Bearer\r\n[\s\S]+x-content-type-options: nosniff/);
    expect(refused.answer).toMatch(/"code":"unauthorized"\}\}$/);
    expect(refused.records.map(({ fields }) => fields.status)).toEqual([401]);
    expect((await ask({}, head('/proxy/x', 'Origin: http://evil.example\r\n'))).answer).toContain(
      'cross_site',
    );
    expect((await ask({}, head('/proxy/%zz'))).answer).toMatch(/^HTTP\/1\.1 400 /);
    expect((await ask({}, head('/nothing'))).answer).toMatch(/^HTTP\/1\.1 404 /);
    expect((await ask({ limits: { concurrency: 0, queue: 0 } }, head('/proxy/x'))).answer).toMatch(
      /^HTTP\/1\.1 503 [\s\S]+retry-after: 1/,
    );
  });

  test('gives its place back when it ends', async () => {
    const sockets: Duplex[] = [];
    const { url } = await serve(
      [{ ...echoSocket, upgrade: (_request, socket) => void sockets.push(socket) }],
      { limits: { concurrency: 1, queue: 0 } },
    );
    const first = connect(Number(new URL(url).port), '127.0.0.1');
    first.write(head('/proxy/x'));
    await until('the first socket', () => sockets.length === 1);
    expect(await sendRaw(url, head('/proxy/x'))).toMatch(/^HTTP\/1\.1 503 /);
    first.resetAndDestroy();
    await until('its end', () => sockets[0]?.destroyed === true);
    const second = connect(Number(new URL(url).port), '127.0.0.1');
    second.write(head('/proxy/x'));
    await until('the second socket', () => sockets.length === 2);
    second.destroy();
  });
});

describe('another upgrade', () => {
  test('is ignored: its request is answered as any other, with its body, and the connection goes on', async () => {
    const { url } = await serve([echoSocket]);
    const body = 'x'.repeat(200_000);
    const request =
      `POST /size HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n` +
      `HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const next = 'GET /proxy/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const both = /^HTTP\/1\.1 200 OK[\s\S]+size 200000 at 127\.0\.0\.1HTTP\/1\.1 200 [\s\S]+plain/;
    if (!ASKS_BEFOREHAND) {
      expect(await sendRaw(url, request + next)).toMatch(both);
    }
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    let answers = '';
    client.on('data', (chunk) => {
      answers += chunk.toString('latin1');
    });
    client.write(request);
    await until('the answer', () => answers.endsWith('size 200000 at 127.0.0.1'));
    client.write(next);
    await until('the next answer', () => both.test(answers));
  });
});
