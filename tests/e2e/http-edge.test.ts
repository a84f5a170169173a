import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { send, sendRaw } from '../helpers/http.ts';
import { selfSigned } from '../helpers/self-signed.ts';
import { startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

test('hub.tls serves HTTPS with HSTS [S2.1-tls, C3-hsts]', async () => {
  const { key, cert } = selfSigned();
  const hub = await startHub({ config: { hub: { tls: { enabled: true, key, cert } } } });
  expect(hub.url).toMatch(/^https:/);
  const url = `https://localhost:${new URL(hub.url).port}/health`;
  const { status, headers } = await send(url, { tls: { ca: readFileSync(cert, 'utf8') } });
  expect([status, headers['strict-transport-security']]).toEqual([
    200,
    expect.stringMatching(/^max-age=\d+/),
  ]);
  await hub.stop();
});

test('an oversized head, a client behind a proxy and a big body meet the edge of the real hub [C3-431, C3-body-too-large, S2.1-trust-proxy]', async () => {
  const hub = await startHub({
    config: { hub: { security: { trustProxy: true }, limits: { jsonBody: '1kb' } } },
  });
  const host = new URL(hub.url).host;
  for (const head of [
    `GET /${'x'.repeat(20_000)} HTTP/1.1`,
    `GET / HTTP/1.1\r\nX-Big: ${'x'.repeat(20_000)}`,
  ]) {
    const answer = await sendRaw(hub.url, `${head}\r\nHost: ${host}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n$/);
  }
  const refused = await send(`${hub.url}/mcp/invoke`, {
    json: { tool: 'x'.repeat(2000) },
    headers: { 'x-target': 'x', 'x-forwarded-for': '6.6.6.6, 9.9.9.9', 'x-request-id': 'edge-1' },
  });
  expect([refused.status, refused.json().error.code]).toEqual([413, 'body_too_large']);
  const record = await until('the access record', () =>
    hub.logs().find(({ requestId, status }) => requestId === 'edge-1' && status !== undefined),
  );
  expect(record).toMatchObject({ module: 'http', path: '/mcp/invoke', status: 413, clientIp: '9.9.9.9' });
  await hub.stop();
});

test('a request that Node answers by itself gets its request id, and the hub lives on [C3-request-id]', async () => {
  const hub = await startHub();
  for (const [head, status] of [
    ['GET /health HTTP/1.1\r\n', 400],
    ['GET /health HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n', 417],
  ]) {
    const answer = await sendRaw(hub.url, `${head}X-Request-Id: bare-1\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain('x-request-id: bare-1\r\n');
  }
  expect((await send(`${hub.url}/health`)).status).toBe(200);
  await hub.stop();
});
