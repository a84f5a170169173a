import { afterEach, expect, test } from '@jest/globals';
import { createRateLimit } from '../../../lib/http/rate-limit.ts';
import { createMemoryStore } from '../../../lib/store/memory-store.ts';
import { send } from '../../helpers/http.ts';
import { bearerOnly, closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

const groups = [
  group({ method: 'GET', path: '/v1/me', handler: (_request, response) => void response.end('ok') }),
];

function limit(max: number) {
  const state = { time: 0, counted: 0, isAway: false };
  const now = () => state.time;
  const shared = createMemoryStore({ now });
  const rateLimit = createRateLimit({
    windowMs: 60_000,
    max,
    store: {
      count(...args) {
        state.counted += 1;
        return state.isAway ? Promise.reject(new Error('away')) : shared.count(...args);
      },
    },
    ownStore: createMemoryStore({ now }),
    now,
  });
  return { state, rateLimit };
}

test('a caller past the limit is 429 until the window ends, and told so in standard fields [S8-rate-limit C2-rate-limit C3-rate-limited]', async () => {
  const { state, rateLimit } = limit(2);
  const { url } = await serve(groups, { deps: { rateLimit } });
  const first = await send(`${url}/v1/me`);
  expect(first.status).toBe(200);
  expect(first.headers).toMatchObject({
    'ratelimit-policy': '"default";q=2;w=60',
    ratelimit: '"default";r=1;t=60',
    'ratelimit-limit': '2',
    'ratelimit-remaining': '1',
    'ratelimit-reset': '60',
  });
  state.time += 20_500;
  expect((await send(`${url}/v1/me`)).headers['ratelimit-remaining']).toBe('0');
  const refused = await send(`${url}/v1/me`);
  expect([refused.status, refused.json().error.code, refused.json().error.type]).toEqual([
    429,
    'rate_limited',
    'rate_limit_error',
  ]);
  expect(refused.headers).toMatchObject({
    'retry-after': '40',
    ratelimit: '"default";r=0;t=40',
    'ratelimit-remaining': '0',
  });
  state.time += 39_500;
  expect((await send(`${url}/v1/me`)).status).toBe(200);
});

test('callers are limited one by one: by identity, else by address', async () => {
  const { rateLimit } = limit(1);
  const { url } = await serve(groups, { deps: { rateLimit, authenticator: bearerOnly } });
  const headers = { authorization: 'Bearer good' };
  expect((await send(`${url}/v1/me`, { headers })).status).toBe(200);
  expect((await send(`${url}/v1/me`, { headers })).status).toBe(429);
  // Whoever is not let in is not counted for anybody.
  expect((await send(`${url}/v1/me`)).status).toBe(401);

  const open = await serve(groups, { deps: { rateLimit }, trustProxy: true });
  const from = (address: string) => send(`${open.url}/v1/me`, { headers: { 'x-forwarded-for': address } });
  expect((await from('192.0.2.1')).status).toBe(200);
  expect((await from('192.0.2.1')).status).toBe(429);
  expect((await from('192.0.2.2')).status).toBe(200);
});

test('a flood past the limit costs the shared store nothing', async () => {
  const { state, rateLimit } = limit(1);
  const caller = { id: 'a', label: 'a' };
  await rateLimit(caller);
  for (let turn = 0; turn < 100; turn += 1)
    await expect(rateLimit(caller)).rejects.toMatchObject({ status: 429 });
  expect(state.counted).toBe(2);
});

test('while the shared store is away each hub counts by itself [C2-rate-limit-redis]', async () => {
  const { state, rateLimit } = limit(2);
  state.isAway = true;
  const caller = { id: 'a', label: 'a' };
  expect(await rateLimit(caller)).toMatchObject({ 'ratelimit-remaining': '1' });
  expect(await rateLimit(caller)).toMatchObject({ 'ratelimit-remaining': '0' });
  await expect(rateLimit(caller)).rejects.toMatchObject({ status: 429 });
  // The store is not asked by every request while it is away.
  expect(state.counted).toBe(1);
});

test('without the option no answer speaks of limits', async () => {
  const { url } = await serve(groups);
  const { headers } = await send(`${url}/v1/me`);
  expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});
