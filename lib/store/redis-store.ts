import { createClient } from 'redis';
import type { SharedStore, StoreSpace } from './shared-store.ts';

export interface RedisStoreDeps {
  /** `redis://` or `rediss://` address; may hold a password. */
  url: string;
  /** Longest wait for one answer in milliseconds; a store that is down is told at once. */
  timeoutMs: number;
  /** Told when the connection is lost and when it is back; never with the address. */
  onStateChange: (state: 'up' | 'down', error?: unknown) => void;
}

// INCR and PEXPIRE in one step: a window whose expiry was never set would never end.
const COUNT_SCRIPT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}`;

const RECONNECT_CAP_MS = 2000;

/**
 * The store in Redis, for hubs of several machines. It connects by itself, again and again; while Redis is away
 * every operation rejects at once (no offline queue), and the callers decide what that means for them.
 */
export function createRedisStore({ url, timeoutMs, onStateChange }: RedisStoreDeps): SharedStore {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 10_000,
    // A peer that vanished without a FIN is noticed by the ping, not by the next caller.
    pingInterval: 10_000,
    socket: {
      connectTimeout: timeoutMs,
      reconnectStrategy: (retries) => Math.min(RECONNECT_CAP_MS, 50 * 2 ** Math.min(retries, 10)),
    },
  });
  let state: 'up' | 'down' | undefined;
  function become(next: 'up' | 'down', error?: unknown): void {
    // Every failed attempt to reconnect is an error event: only the first says something new.
    if (next !== state) onStateChange(next, error);
    state = next;
  }
  client.on('ready', () => become('up'));
  client.on('error', (error) => become('down', error));
  const connecting = client.connect().catch((error) => become('down', error));

  const name = (space: StoreSpace, key: string) => `hub:${space}:${key}`;

  async function bounded<T>(operation: () => Promise<T>): Promise<T> {
    if (!client.isReady) throw new Error('Redis is not connected');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Redis gave no answer in ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      return await Promise.race([operation(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    get: (space, key) => bounded(async () => (await client.get(name(space, key))) ?? undefined),
    set: (space, key, value, ttlMs) =>
      bounded(async () => {
        await client.set(name(space, key), value, { expiration: { type: 'PX', value: Math.ceil(ttlMs) } });
      }),
    add: (space, key, value, ttlMs) =>
      bounded(async () => {
        const options = { expiration: { type: 'PX', value: Math.ceil(ttlMs) }, condition: 'NX' } as const;
        return (await client.set(name(space, key), value, options)) !== null;
      }),
    remove: (space, key) => bounded(async () => (await client.del(name(space, key))) === 1),
    count: (space, key, windowMs) =>
      bounded(async () => {
        const answer = await client.eval(COUNT_SCRIPT, {
          keys: [name(space, key)],
          arguments: [String(Math.ceil(windowMs))],
        });
        const [count, resetMs] = answer as [number, number];
        return { count, resetMs: Math.max(1, resetMs) };
      }),
    async close() {
      if (client.isOpen) client.destroy();
      await connecting;
    },
  };
}
