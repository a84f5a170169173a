import { randomBytes } from 'node:crypto';
import { HubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import type { SharedStore } from '../store/shared-store.ts';
import type { VerifiedToken } from './token-cache.ts';

export interface SessionsDeps {
  store: Pick<SharedStore, 'get' | 'set' | 'add' | 'remove'>;
  /** Lifetime of a session in milliseconds (`auth.session.ttl`). */
  ttlMs: number;
  /** Milliseconds since the Unix epoch. */
  now: () => number;
  /** Log type access, module auth: told of every session that begins or ends. */
  logger: Logger;
}

/** Sessions in the shared store: an id that says nothing, behind it the identity (contract §4). */
export interface Sessions {
  /**
   * The one live session of a token, found by the token's SHA-256, else begun; known at once where this process
   * has looked within five seconds. Undefined while the store is away: a bearer needs no session to be let in,
   * and waits for none.
   */
  ofToken(token: VerifiedToken): string | undefined | Promise<string | undefined>;
  /**
   * The identity id behind a session; undefined where it is over.
   * @throws HubError `session_store_unavailable` while the store is away.
   */
  identityOf(sessionId: string): Promise<string | undefined>;
  /** Ends a session; whether it was alive. @throws HubError `session_store_unavailable` */
  end(sessionId: string): Promise<boolean>;
  /** Ends the session of a token, by its SHA-256; whether it had one. @throws HubError `session_store_unavailable` */
  endOfToken(tokenHash: string): Promise<boolean>;
}

interface SessionRecord {
  id: string;
  tokenHash: string;
}

/** A session that the store holds, and when it ends: epoch milliseconds. */
interface Live {
  sessionId: string;
  endsAt: number;
}

interface Found {
  session: string | undefined | Promise<string | undefined>;
  expiresAt: number;
}

/** 256 random bits; the contract asks for 128 at least. */
const SESSION_ID_BYTES = 32;
const MAX_FOUND = 10_000;
/** After this long the store is asked again whether a session still lives: another hub may have ended it. */
const REUSE_MS = 5000;
/** A store that is away is asked again after this long, not by every request. */
const RETRY_STORE_MS = 1000;

export function createSessions({ store, ttlMs, now, logger }: SessionsDeps): Sessions {
  const found = new Map<string, Found>();
  let isStoreAway = false;
  let retryAt = 0;

  function remember(hash: string, entry: Found): void {
    found.delete(hash);
    found.set(hash, entry);
    if (found.size <= MAX_FOUND) return;
    const oldest = found.keys().next();
    if (!oldest.done) found.delete(oldest.value);
  }

  function find(token: VerifiedToken): Promise<string | undefined> {
    const search = findOrBegin(token).then(
      (live) => {
        isStoreAway = false;
        const session = live?.sessionId;
        // Not past its end, after which the next request begins another one.
        const expiresAt = Math.min(now() + REUSE_MS, live?.endsAt ?? Number.POSITIVE_INFINITY);
        remember(token.hash, { session, expiresAt });
        return session;
      },
      () => {
        isStoreAway = true;
        retryAt = now() + RETRY_STORE_MS;
        found.delete(token.hash);
        return undefined;
      },
    );
    remember(token.hash, { session: search, expiresAt: Number.POSITIVE_INFINITY });
    return search;
  }

  function ofToken(token: VerifiedToken): string | undefined | Promise<string | undefined> {
    const known = found.get(token.hash);
    if (!isStoreAway) return known !== undefined && known.expiresAt > now() ? known.session : find(token);
    if (now() >= retryAt) {
      // One request's token tries whether the store is back; nobody waits for it.
      retryAt = now() + RETRY_STORE_MS;
      void find(token);
    }
    return undefined;
  }

  /** The live session of a token, as the store has it. */
  async function liveOf(tokenHash: string): Promise<Live | undefined> {
    const text = await store.get('session-token', tokenHash);
    return text === undefined ? undefined : (JSON.parse(text) as Live);
  }

  async function findOrBegin(token: VerifiedToken): Promise<Live | undefined> {
    return (await liveOf(token.hash)) ?? begin(token);
  }

  async function begin({ hash, identity }: VerifiedToken): Promise<Live | undefined> {
    const lifetime = Math.min(ttlMs, (identity.expiresAt ?? Number.POSITIVE_INFINITY) - now());
    if (lifetime <= 0) return undefined;
    const sessionId = randomBytes(SESSION_ID_BYTES).toString('base64url');
    const record: SessionRecord = { id: identity.id, tokenHash: hash };
    const live: Live = { sessionId, endsAt: now() + lifetime };
    // The session first, then its finding by token: whoever finds it must be able to use it.
    await store.set('session', sessionId, JSON.stringify(record), lifetime);
    if (await store.add('session-token', hash, JSON.stringify(live), lifetime)) {
      logger.info('A session was begun', { caller: identity.id });
      return live;
    }
    // Another copy of the gateway was quicker: a token has one session.
    await store.remove('session', sessionId);
    return liveOf(hash);
  }

  async function withStore<T>(operation: () => Promise<T>): Promise<T> {
    try {
      return await operation();
    } catch (cause) {
      throw new HubError(
        'session_store_unavailable',
        'Sessions cannot be looked up right now; try again later',
        { cause, headers: { 'retry-after': '5' } },
      );
    }
  }

  async function read(sessionId: string): Promise<SessionRecord | undefined> {
    const text = await store.get('session', sessionId);
    return text === undefined ? undefined : (JSON.parse(text) as SessionRecord);
  }

  async function end(sessionId: string): Promise<boolean> {
    const record = await read(sessionId);
    if (record === undefined) return false;
    found.delete(record.tokenHash);
    await store.remove('session-token', record.tokenHash);
    const wasAlive = await store.remove('session', sessionId);
    if (wasAlive) logger.info('A session was ended', { caller: record.id });
    return wasAlive;
  }

  return {
    ofToken,
    identityOf: (sessionId) => withStore(async () => (await read(sessionId))?.id),
    end: (sessionId) => withStore(() => end(sessionId)),
    endOfToken: (tokenHash) =>
      withStore(async () => {
        const live = await liveOf(tokenHash);
        return live === undefined ? false : end(live.sessionId);
      }),
  };
}
