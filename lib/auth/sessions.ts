import { randomBytes } from 'node:crypto';
import { HubError } from '../errors/hub-error.ts';
import type { SharedStore } from '../store/shared-store.ts';
import type { VerifiedToken } from './token-cache.ts';

export interface SessionsDeps {
  store: SharedStore;
  /** Lifetime of a session in milliseconds (`auth.session.ttl`). */
  ttlMs: number;
  /** How long this copy of the gateway may reuse what it found without asking the store again, in ms. */
  reuseMs: number;
  /** Milliseconds since the Unix epoch. */
  now: () => number;
}

/** Sessions in the shared store: an id that says nothing, behind it the identity (contract §4). */
export interface Sessions {
  /**
   * The one live session of a token: found by the token's SHA-256, else begun; repeats within `reuseMs` ask
   * nobody. Undefined while the store is away: a bearer needs no session to be let in.
   */
  ofToken(token: VerifiedToken): Promise<string | undefined>;
  /**
   * The identity id behind a session; undefined where it is over.
   * @throws HubError `session_store_unavailable` while the store is away.
   */
  identityOf(sessionId: string): Promise<string | undefined>;
  /** Ends a session; whether it was alive. @throws HubError `session_store_unavailable` */
  end(sessionId: string): Promise<boolean>;
}

interface SessionRecord {
  id: string;
  tokenHash: string;
}

interface Found {
  session: Promise<string | undefined>;
  expiresAt: number;
}

/** 256 random bits; the contract asks for 128 at least. */
const SESSION_ID_BYTES = 32;
const MAX_FOUND = 10_000;
/** A store that is away is asked again after this long, not by every request. */
const RETRY_STORE_MS = 1000;

export function createSessions({ store, ttlMs, reuseMs, now }: SessionsDeps): Sessions {
  const found = new Map<string, Found>();

  function find(token: VerifiedToken): Promise<string | undefined> {
    const entry: Found = { session: Promise.resolve(undefined), expiresAt: now() + reuseMs };
    entry.session = findOrBegin(token).catch(() => {
      entry.expiresAt = now() + RETRY_STORE_MS;
      return undefined;
    });
    found.delete(token.hash);
    found.set(token.hash, entry);
    if (found.size > MAX_FOUND) {
      const oldest = found.keys().next();
      if (!oldest.done) found.delete(oldest.value);
    }
    return entry.session;
  }

  async function findOrBegin(token: VerifiedToken): Promise<string | undefined> {
    return (await store.get('session-token', token.hash)) ?? begin(token);
  }

  async function begin({ hash, identity }: VerifiedToken): Promise<string | undefined> {
    const lifetime = Math.min(ttlMs, (identity.expiresAt ?? Number.POSITIVE_INFINITY) - now());
    if (lifetime <= 0) return undefined;
    const sessionId = randomBytes(SESSION_ID_BYTES).toString('base64url');
    const record: SessionRecord = { id: identity.id, tokenHash: hash };
    // The session first, then its finding by token: whoever finds it must be able to use it.
    await store.set('session', sessionId, JSON.stringify(record), lifetime);
    if (await store.add('session-token', hash, sessionId, lifetime)) return sessionId;
    // Another copy of the gateway was quicker: a token has one session.
    await store.remove('session', sessionId);
    return store.get('session-token', hash);
  }

  async function withStore<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (cause) {
      throw new HubError(
        'session_store_unavailable',
        'Sessions cannot be looked up right now; try again later',
        {
          cause,
          headers: { 'retry-after': '5' },
        },
      );
    }
  }

  return {
    ofToken(token) {
      const known = found.get(token.hash);
      return known !== undefined && known.expiresAt > now() ? known.session : find(token);
    },
    identityOf: (sessionId) =>
      withStore(async () => {
        const text = await store.get('session', sessionId);
        return text === undefined ? undefined : (JSON.parse(text) as SessionRecord).id;
      }),
    end: (sessionId) =>
      withStore(async () => {
        const text = await store.get('session', sessionId);
        if (text === undefined) return false;
        const { tokenHash } = JSON.parse(text) as SessionRecord;
        found.delete(tokenHash);
        await store.remove('session-token', tokenHash);
        return store.remove('session', sessionId);
      }),
  };
}
