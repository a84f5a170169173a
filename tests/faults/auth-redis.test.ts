import { beforeAll, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { type IdentityApi, startIdentityApi } from '../helpers/identity-api.ts';
import { type RedisServer, startRedis } from '../helpers/redis-server.ts';
import { ADMIN_KEY, type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

let redis: RedisServer;
let identity: IdentityApi;

beforeAll(async () => {
  [redis, identity] = await Promise.all([startRedis(), startIdentityApi()]);
});

const start = (hub: object = {}): Promise<HubProcess> =>
  startHub({
    config: {
      hub,
      targets: [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }],
      auth: {
        enabled: true,
        type: 'edapi',
        edapi_url: identity.url,
        timeout: 1000,
        session: {
          store: 'redis',
          redis_url: redis.url,
          cookie: { secret: 'session-secret-0123456789-abcdefghijkl', sameSite: 'strict' },
        },
        admin: { enabled: true, apiKeys: [ADMIN_KEY] },
      },
    },
    env: { HUB_HOST: '127.0.0.1' },
  });

const get = (hub: HubProcess, headers: Record<string, string>) => send(`${hub.url}/v1/models`, { headers });
const bearer = (user: string) => ({ authorization: `Bearer token-of-${user}` });

async function cookieOf(hub: HubProcess, user: string): Promise<string> {
  const cookie = await until(
    'a session',
    async () => (await get(hub, bearer(user))).headers['set-cookie']?.[0],
  );
  expect(cookie).toContain('SameSite=Strict');
  return cookie.split(';')[0] ?? '';
}

test('sessions in Redis survive a restart and hold in every copy of the hub [S2.2-session-store S5.1-session-store C4-store-redis C2-session-keys]', async () => {
  const [first, other] = await Promise.all([start(), start()]);
  const cookie = await cookieOf(first, 'anna');
  expect((await get(other, { cookie })).status).toBe(200);
  expect(await cookieOf(other, 'anna')).toBe(cookie);
  await Promise.all([first.stop(), other.stop()]);
  const next = await start();
  expect((await get(next, { cookie })).status).toBe(200);
  const out = await send(`${next.url}/auth/logout`, { method: 'POST', headers: { cookie } });
  expect(out.json().message).toBe('Signed out');
  expect((await get(next, { cookie })).status).toBe(401);
  await next.stop();
});

test('Redis that dies under load is 503 for cookies and nothing for bearers, and heals [C4-redis-down C3-redis-not-ready]', async () => {
  const hub = await start();
  const cookie = await cookieOf(hub, 'bert');
  const counts = { bearer: new Map<number, number>(), cookie: new Map<number, number>() };
  const add = (kind: 'bearer' | 'cookie', status: number) =>
    counts[kind].set(status, (counts[kind].get(status) ?? 0) + 1);
  let isOver = false;
  const load = ['bearer', 'bearer', 'cookie', 'cookie'].map(async (kind) => {
    while (!isOver) {
      const { status } = await get(hub, kind === 'bearer' ? bearer('bert') : { cookie });
      add(kind as 'bearer' | 'cookie', status);
    }
  });
  await until('cookies let in', () => counts.cookie.get(200));
  await redis.kill();
  await until('cookies refused', () => counts.cookie.get(503));

  const refused = await get(hub, { cookie });
  expect([refused.status, refused.json().error.code]).toEqual([503, 'session_store_unavailable']);
  const fresh = await get(hub, bearer('never-seen'));
  expect([fresh.status, fresh.headers['set-cookie']]).toEqual([200, undefined]);
  const atRest = await Promise.all([
    send(`${hub.url}/health`),
    send(`${hub.url}/ready`),
    send(`${hub.url}/admin/runtime`, { headers: { 'x-admin-key': ADMIN_KEY } }),
    send(`${hub.url}/admin/runtime`, { headers: { 'x-admin-key': 'wrong-key-wrong-key-wrong-key-wrong-k' } }),
    send(`${hub.url}/auth/logout`, { method: 'POST', headers: { cookie } }),
    send(`${hub.url}/auth/logout`, { method: 'POST' }),
  ]);
  expect(atRest.map(({ status }) => status)).toEqual([200, 200, 200, 401, 503, 200]);

  await redis.start();
  // Redis came back empty: the old cookie is over, the bearer begins a new session.
  const next = await until('a new session', async () => {
    const [one] = (await get(hub, { ...bearer('bert'), cookie })).headers['set-cookie'] ?? [];
    return one?.split(';')[0];
  });
  expect(next).not.toBe(cookie);
  expect((await get(hub, { cookie: next })).status).toBe(200);
  expect((await get(hub, { cookie })).status).toBe(401);
  isOver = true;
  await Promise.all(load);
  expect([...counts.bearer.keys()]).toEqual([200]);
  expect([...counts.cookie.keys()].sort()).toEqual([200, 401, 503]);
  const states = hub.logs().filter(({ module }) => module === 'store');
  expect(states.map(({ level }) => level)).toEqual(['info', 'error', 'info']);
  await hub.stop();
});

test('a hub whose Redis is away at its start serves bearers, and cookies once it is there', async () => {
  await redis.kill();
  const hub = await start();
  expect((await get(hub, bearer('carl'))).status).toBe(200);
  expect((await get(hub, { cookie: 'hub.sid=x.y' })).status).toBe(401);
  await redis.start();
  const cookie = await cookieOf(hub, 'carl');
  expect((await get(hub, { cookie })).status).toBe(200);
  expect((await hub.stop()).code).toBe(0);
});

test('rate limits and admin lock-outs in Redis count for all copies of the hub [C2-rate-limit C2-rate-limit-redis C4-store-shared-windows]', async () => {
  const limit = { rateLimit: { enabled: true, windowMs: 600_000, max: 4 } };
  const hubs = await Promise.all([start(limit), start(limit)]);
  await Promise.all(hubs.map((hub) => cookieOf(hub, `warm-${hub.pid}`)));
  const statuses = [];
  const remaining = [];
  for (let turn = 0; turn < 6; turn += 1) {
    const answer = await get(hubs[turn % 2] as HubProcess, bearer('dora'));
    statuses.push(answer.status);
    remaining.push(answer.headers['ratelimit-remaining']);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  expect(remaining).toEqual(['3', '2', '1', '0', '0', '0']);
  const wrong = { 'x-admin-key': 'wrong-key-wrong-key-wrong-key-wrong-k' };
  const refusals = [];
  for (let turn = 0; turn < 12; turn += 1) {
    const { status } = await send(`${hubs[turn % 2]?.url}/admin/runtime`, { headers: wrong });
    refusals.push(status);
  }
  expect(refusals).toEqual([...Array(10).fill(401), 429, 429]);

  await redis.kill();
  await until('the loss is seen', () =>
    hubs[0]?.logs().some(({ module, level }) => module === 'store' && level === 'error'),
  );
  const alone = await get(hubs[0] as HubProcess, bearer('emil'));
  expect([alone.status, alone.headers['ratelimit-remaining']]).toEqual([200, '3']);
  await redis.start();
  await Promise.all(hubs.map((hub) => hub.stop()));
});
