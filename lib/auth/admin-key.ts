import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AuthConfig } from '../config/schema/auth.ts';
import { HubError } from '../errors/hub-error.ts';
import type { HubRequest, RequestContext } from '../http/request-context.ts';
import type { Logger } from '../logging/logger.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import type { SharedStore } from '../store/shared-store.ts';
import { compileNetworks } from './networks.ts';

/** Wrong keys that one address may send in a window; the next one is 429. */
const WRONG_KEYS = 10;
const WINDOW_MS = 60_000;

/** Paths where the key may come as a bearer token, for scrapers that know nothing else. */
const BEARER_PATHS = new Set(['/metrics']);

export interface AdminGuardDeps {
  admin: AuthConfig['admin'];
  /** Counts the wrong keys of an address; shared between all copies of the gateway. */
  store: Pick<SharedStore, 'count'>;
  /** Takes a warning for each wrong key, as far as they are counted. */
  logger: Logger;
}

/**
 * Creates the guard of admin routes (contract §8): 403 where admin is not configured or the address not allowed,
 * then 401 for a missing or wrong key, 429 from the 11th wrong key of an address in a minute on. A right key
 * passes even then; it is taken off the request, and `request.hub.caller` says by its id who is there.
 */
export function createAdminGuard(deps: AdminGuardDeps): (request: HubRequest) => void | Promise<void> {
  const { admin, store, logger } = deps;
  const isAllowed = compileNetworks(admin.allowedNetworks);
  const findKey = compileKeys(admin.enabled ? admin.apiKeys : []);
  const ownCounts = createMemoryStore({ now: () => performance.now(), maxEntries: 10_000 });
  const isConfigured = admin.enabled && admin.apiKeys.length > 0;

  return (request) => {
    const { hub } = request;
    if (!isConfigured) throw new HubError('admin_forbidden', 'Admin access is not configured');
    if (!isAllowed(hub.clientIp)) {
      throw new HubError('admin_forbidden', 'Admin access is not allowed from this address');
    }
    const given = takeKey(request);
    if (given === undefined) throw unauthorized('An admin key is required in x-admin-key');
    const id = findKey(given);
    if (id === undefined) return refuse(hub);
    hub.caller = { id, label: `admin:${id}` };
    return undefined;
  };

  async function refuse(hub: RequestContext): Promise<never> {
    // Without the shared store a wrong key is still wrong: this copy of the gateway counts by itself meanwhile.
    const { count, resetMs } = await store
      .count('admin-lockout', hub.clientIp, WINDOW_MS)
      .catch(() => ownCounts.count('admin-lockout', hub.clientIp, WINDOW_MS));
    // Counted wrong keys are told one by one, a flood of them is not.
    if (count <= WRONG_KEYS + 1) {
      logger.warn('A wrong admin key was refused', {
        requestId: hub.id,
        clientIp: hub.clientIp,
        wrongKeys: count,
      });
    }
    if (count <= WRONG_KEYS) throw unauthorized('The admin key is wrong');
    throw new HubError('rate_limited', 'Too many wrong admin keys from this address', {
      headers: { 'retry-after': String(Math.max(1, Math.ceil(resetMs / 1000))) },
    });
  }
}

const unauthorized = (message: string): HubError => new HubError('admin_unauthorized', message);

/** First 8 hex digits of the key's SHA-256: names a key in a log without telling it. */
export const adminKeyId = (key: string): string => digest(key).toString('hex').slice(0, 8);

const digest = (key: string): Buffer => createHash('sha256').update(key, 'utf8').digest();

/** Compares digests, all of them every time: neither length nor place of a key shows in the time it takes. */
function compileKeys(keys: readonly string[]): (given: string) => string | undefined {
  const known = keys.map((key) => ({ digest: digest(key), id: adminKeyId(key) }));
  const find = (given: string): string | undefined => {
    const wanted = digest(given);
    let id: string | undefined;
    for (const key of known) if (timingSafeEqual(key.digest, wanted)) id = key.id;
    return id;
  };
  // Node reads header bytes as Latin-1, which is what browsers send; command-line tools send UTF-8.
  return (given) => find(given) ?? find(Buffer.from(given, 'latin1').toString('utf8'));
}

/** Takes the key off the request, so that nothing after the guard can pass it on. */
function takeKey(request: IncomingMessage): string | undefined {
  const { headers } = request;
  const header = headers['x-admin-key'];
  remove(request, 'x-admin-key');
  if (header !== undefined && header !== '') return String(header);
  const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer === undefined || !BEARER_PATHS.has((request.url ?? '').split('?', 1)[0] ?? '')) return undefined;
  remove(request, 'authorization');
  return bearer;
}

function remove(request: IncomingMessage, name: string): void {
  delete request.headers[name];
  // `headersDistinct` is made from the raw list when it is first asked for.
  const raw = request.rawHeaders;
  for (let at = raw.length - 2; at >= 0; at -= 2) {
    if (raw[at]?.toLowerCase() === name) raw.splice(at, 2);
  }
}
