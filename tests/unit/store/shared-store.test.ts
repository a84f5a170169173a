import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCompanionServer } from '../../../companion/server.ts';
import { createCompanionClient } from '../../../lib/companion-client/create-client.ts';
import { createCompanionStore } from '../../../lib/store/companion-store.ts';
import { createStoreCapability } from '../../../lib/store/internal-routes.ts';
import { createMemoryStore } from '../../../lib/store/memory-store.ts';
import { createRedisStore } from '../../../lib/store/redis-store.ts';
import type { SharedStore } from '../../../lib/store/shared-store.ts';
import { type RedisServer, startRedis } from '../../helpers/redis-server.ts';
import { until } from '../../helpers/until.ts';

const TOKEN = 'a token of the internal API, long enough';

interface Fixture {
  store: SharedStore;
  /** Lets `ms` pass for the store. */
  pass(ms: number): Promise<void>;
  end(): Promise<void>;
}

const quiet = { debug() {}, info() {}, warn() {}, error() {}, enabled: () => false };

const fixtures: Record<string, () => Promise<Fixture>> = {
  memory: async () => {
    let time = 0;
    const store = createMemoryStore({ now: () => time });
    return {
      store,
      async pass(ms) {
        time += ms;
      },
      end: () => store.close(),
    };
  },
  companion: async () => {
    let time = 0;
    const capability = createStoreCapability(createMemoryStore({ now: () => time }));
    const { servers } = createCompanionServer({
      token: TOKEN,
      routes: capability.routes,
      health: { status: 'ok', pid: process.pid, configHash: '' },
      logger: quiet,
    });
    await new Promise<void>((resolve) => servers.port.listen(0, '127.0.0.1', resolve));
    const { port } = servers.port.address() as AddressInfo;
    const companion = createCompanionClient({ address: { url: `http://127.0.0.1:${port}` }, token: TOKEN });
    return {
      store: createCompanionStore(companion, { timeoutMs: 5000 }),
      async pass(ms) {
        time += ms;
      },
      async end() {
        await companion.close();
        await capability.close?.();
        servers.port.close();
      },
    };
  },
  redis: async () => {
    const server: RedisServer = await startRedis();
    let up = false;
    const store = createRedisStore({
      url: server.url,
      timeoutMs: 2000,
      onStateChange: (state) => {
        up = state === 'up';
      },
    });
    await until('connected', () => up);
    return {
      store,
      pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 20)),
      async end() {
        await store.close();
        await server.kill();
      },
    };
  },
};

describe.each(Object.keys(fixtures))('the %s store', (name) => {
  let fixture: Fixture;
  let store: SharedStore;

  beforeAll(async () => {
    const create = fixtures[name];
    if (create === undefined) throw new Error(`no fixture ${name}`);
    fixture = await create();
    store = fixture.store;
  });
  afterAll(() => fixture.end());

  test('gives back what was set, until it expires [C4-store-memory C4-store-redis]', async () => {
    await store.set('session', 'a', 'text with "quotes" and ünicode', 200);
    expect(await store.get('session', 'a')).toBe('text with "quotes" and ünicode');
    await fixture.pass(200);
    expect(await store.get('session', 'a')).toBeUndefined();
  });

  test('keeps the spaces apart', async () => {
    await store.set('session', 'same', 'one', 10_000);
    await store.set('single-use', 'same', 'two', 10_000);
    expect(await store.get('session', 'same')).toBe('one');
    expect(await store.remove('single-use', 'same')).toBe(true);
    expect(await store.get('session', 'same')).toBe('one');
  });

  test('lets exactly one of many at once add a key', async () => {
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.add('single-use', 'nonce', String(index), 10_000)),
    );
    expect(added.filter(Boolean)).toHaveLength(1);
    expect(await store.get('single-use', 'nonce')).toBe(String(added.indexOf(true)));
  });

  test('lets exactly one of many at once remove a key', async () => {
    await store.set('single-use', 'spent', 'x', 10_000);
    const removed = await Promise.all(Array.from({ length: 20 }, () => store.remove('single-use', 'spent')));
    expect(removed.filter(Boolean)).toHaveLength(1);
  });

  test('counts in a fixed window that starts anew when it ends [C4-store-shared-windows]', async () => {
    const counts = [];
    for (let index = 0; index < 3; index += 1) counts.push(await store.count('rate', 'caller', 300));
    expect(counts.map(({ count }) => count)).toEqual([1, 2, 3]);
    for (const { resetMs } of counts) {
      expect(resetMs).toBeGreaterThan(0);
      expect(resetMs).toBeLessThanOrEqual(300);
    }
    await fixture.pass(300);
    expect((await store.count('rate', 'caller', 300)).count).toBe(1);
  });
});

test('the memory store forgets the oldest record past its bound [C4-store-memory]', async () => {
  const store = createMemoryStore({ now: () => 0, maxEntries: 3 });
  for (const key of ['a', 'b', 'c', 'd']) await store.set('session', key, key, 1000);
  expect(await store.get('session', 'a')).toBeUndefined();
  expect(await store.get('session', 'd')).toBe('d');
  await store.close();
});

test('a Redis that goes away is told at once, and used again when it is back', async () => {
  const server = await startRedis();
  const states: string[] = [];
  const store = createRedisStore({
    url: server.url,
    timeoutMs: 1000,
    onStateChange: (state) => states.push(state),
  });
  await until('connected', () => states.includes('up'));
  await server.kill();
  await until('loss noticed', () => states.at(-1) === 'down');
  await expect(store.get('session', 'a')).rejects.toThrow('not connected');
  await server.start();
  await until('back', () => states.at(-1) === 'up');
  await store.set('session', 'a', 'again', 1000);
  expect(await store.get('session', 'a')).toBe('again');
  expect(states).toEqual(['up', 'down', 'up']);
  await store.close();
  await server.kill();
});
