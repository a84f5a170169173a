import type { SharedStore, StoreSpace } from './shared-store.ts';
import { STORE_SPACES } from './shared-store.ts';

interface Entry {
  value: string;
  count: number;
  expiresAt: number;
}

export interface MemoryStoreDeps {
  /** Milliseconds of a monotonic clock. */
  now: () => number;
  /** Records of one space at most; past it the one nearest to the front (oldest written) goes. */
  maxEntries?: number;
}

const SWEEP_INTERVAL_MS = 30_000;

/** The store in memory: bounded and expiring. Lives in the companion, so that every handler sees it. */
export function createMemoryStore({ now, maxEntries = 100_000 }: MemoryStoreDeps): SharedStore {
  const spaces = new Map<StoreSpace, Map<string, Entry>>(STORE_SPACES.map((space) => [space, new Map()]));
  const sweeper = setInterval(sweep, SWEEP_INTERVAL_MS);
  sweeper.unref();

  function sweep(): void {
    const time = now();
    for (const entries of spaces.values()) {
      for (const [key, entry] of entries) if (entry.expiresAt <= time) entries.delete(key);
    }
  }

  function entriesOf(space: StoreSpace): Map<string, Entry> {
    const entries = spaces.get(space);
    if (entries === undefined) throw new TypeError(`unknown store space ${space}`);
    return entries;
  }

  function live(space: StoreSpace, key: string): Entry | undefined {
    const entries = entriesOf(space);
    const entry = entries.get(key);
    if (entry === undefined || entry.expiresAt > now()) return entry;
    entries.delete(key);
    return undefined;
  }

  function write(space: StoreSpace, key: string, entry: Entry): void {
    const entries = entriesOf(space);
    // Deleting first moves a rewritten key behind the others: the map's order is the order of writing.
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size <= maxEntries) return;
    const oldest = entries.keys().next();
    if (!oldest.done) entries.delete(oldest.value);
  }

  return {
    async get(space, key) {
      return live(space, key)?.value;
    },
    async set(space, key, value, ttlMs) {
      write(space, key, { value, count: 0, expiresAt: now() + ttlMs });
    },
    async add(space, key, value, ttlMs) {
      if (live(space, key) !== undefined) return false;
      write(space, key, { value, count: 0, expiresAt: now() + ttlMs });
      return true;
    },
    async remove(space, key) {
      return live(space, key) !== undefined && entriesOf(space).delete(key);
    },
    async count(space, key, windowMs) {
      let entry = live(space, key);
      if (entry === undefined) {
        entry = { value: '', count: 0, expiresAt: now() + windowMs };
        write(space, key, entry);
      }
      entry.count += 1;
      return { count: entry.count, resetMs: Math.max(1, Math.ceil(entry.expiresAt - now())) };
    },
    async close() {
      clearInterval(sweeper);
    },
  };
}
