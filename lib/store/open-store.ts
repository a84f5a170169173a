import type { CompanionClient } from '../companion-client/companion-client.ts';
import type { AuthConfig } from '../config/schema/auth.ts';
import type { Logger } from '../logging/logger.ts';
import { createCompanionStore } from './companion-store.ts';
import { createRedisStore } from './redis-store.ts';
import type { SharedStore } from './shared-store.ts';

export interface OpenStoreDeps {
  /** `auth.session` says where the store is. */
  auth: AuthConfig;
  companion: Pick<CompanionClient, 'call'>;
  /** Log type error, module store. */
  logger: Logger;
}

/** No request waits longer for one shared record, in milliseconds; `auth.timeout` may be shorter. */
const LONGEST_WAIT_MS = 1000;

/** The store of sessions, windows and single-use records that the configuration chooses (contract §4). */
export function openStore({ auth, companion, logger }: OpenStoreDeps): SharedStore {
  const timeoutMs = Math.min(auth.timeout, LONGEST_WAIT_MS);
  const { store, redis_url: url } = auth.session;
  if (store !== 'redis' || url === undefined) return createCompanionStore(companion, { timeoutMs });
  return createRedisStore({
    url,
    timeoutMs,
    onStateChange(state, error) {
      if (state === 'up') logger.info('Redis answers');
      else logger.error('Redis is away: sessions cannot be looked up until it is back', { error });
    },
  });
}
