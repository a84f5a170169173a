import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { ADMIN_KEY, type HubProcess, startHub } from '../helpers/start-hub.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

const key = 'key-of-anna-0123456789';
let upstream: Upstream;
let offline: HubProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  offline = await startHub({
    command: 'offline',
    readyTimeoutMs: 60_000,
    config: {
      hub: { rateLimit: { enabled: true, max: 50 } },
      targets: [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }],
      proxies: [{ id: 'wiki', url: `${upstream.url}/base`, auth: false }],
      auth: {
        enabled: true,
        type: 'apiKey',
        apiKeys: [{ id: 'anna', sha256: createHash('sha256').update(key).digest('hex') }],
        session: { cookie: { secret: 'session-secret-0123456789-abcdefghijkl' } },
        admin: { enabled: true, apiKeys: [ADMIN_KEY] },
      },
    },
  });
}, 90_000);

const at = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(offline.url + path, { method, headers });

test('a session begun at one handler is good at every other, until the handler for signing out ends it [C4-store-memory C4-logout]', async () => {
  const first = await at('/v1/models', { authorization: `Bearer ${key}` });
  expect(first.status).toBe(200);
  const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  for (const path of ['/v1/models', '/mcp/tools', '/mcp/stats']) {
    expect([path, (await at(path, { cookie })).status]).toEqual([path, 200]);
    expect([path, (await at(path)).status]).toEqual([path, 401]);
  }
  const out = await at('/auth/logout', { cookie }, 'POST');
  expect([out.status, out.json()]).toEqual([200, { success: true, message: 'Signed out' }]);
  for (const path of ['/v1/models', '/mcp/tools']) expect((await at(path, { cookie })).status).toBe(401);
});

test('rate-limit windows are shared by all handlers [C4-store-shared-windows C2-rate-limit]', async () => {
  const headers = { authorization: `Bearer ${key}` };
  const one = await at('/v1/models', headers);
  const other = await at('/mcp/stats', headers);
  expect(Number(other.headers['ratelimit-remaining'])).toBe(Number(one.headers['ratelimit-remaining']) - 1);
});

test('proxies work as a handler too, and their counts reach the companion [C9-counts]', async () => {
  const answer = await send(`${offline.url}/proxy/wiki/a%20b?x=1`, {
    method: 'POST',
    body: 'some text',
    headers: { 'content-type': 'text/plain' },
  });
  expect([answer.status, answer.json()]).toMatchObject([
    200,
    { method: 'POST', url: '/base/a%20b?x=1', bytes: 9 },
  ]);
  const problems = await Promise.all(
    ['/proxy/nobody/x', '/proxy/wiki/..%2fx'].map((path) => at(path, { authorization: `Bearer ${key}` })),
  );
  expect(problems.map(({ status }) => status)).toEqual([404, 400]);
  const usage = (await at('/admin/runtime/usage', { 'x-admin-key': ADMIN_KEY })).json();
  expect(usage.proxies).toMatchObject([{ id: 'wiki', requests: 1, statuses: { 200: 1 } }]);
});
