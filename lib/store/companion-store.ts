import type { CompanionClient } from '../companion-client/companion-client.ts';
import { INTERNAL_PATHS } from '../companion-client/protocol.ts';
import type { SharedStore } from './shared-store.ts';

/**
 * The store that lives in the companion's memory, seen from the gateway or a handler. Every operation is one
 * call, bounded by `timeoutMs`; it rejects with `ailink_unavailable` when the companion cannot be reached.
 */
export function createCompanionStore(
  companion: Pick<CompanionClient, 'call'>,
  { timeoutMs }: { timeoutMs: number },
): SharedStore {
  async function operate<T>(operation: string, body: object): Promise<T> {
    const path = `${INTERNAL_PATHS.store}/${operation}`;
    const answer = await companion.call<{ result: T }>({
      method: 'POST',
      path,
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return answer.result;
  }
  return {
    async get(space, key) {
      return (await operate<string | null>('get', { space, key })) ?? undefined;
    },
    async set(space, key, value, ttlMs) {
      await operate('set', { space, key, value, ttlMs });
    },
    add: (space, key, value, ttlMs) => operate('add', { space, key, value, ttlMs }),
    remove: (space, key) => operate('remove', { space, key }),
    count: (space, key, ttlMs) => operate('count', { space, key, ttlMs }),
    async close() {},
  };
}
