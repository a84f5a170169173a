import { createHash } from 'node:crypto';
import { HubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import type { IdentityProvider } from './platform.ts';
import type { TokenStore, Tokens } from './token-store/token-store.ts';
import { noAuthentication, tokenExpired } from './video-errors.ts';

export interface AccountTokensDeps {
  accountId: string;
  store: TokenStore;
  identity: IdentityProvider;
  logger: Logger;
  now?: () => number;
  /** A token is refreshed so long before its end, in ms; default 5 minutes. */
  refreshAheadMs?: number;
  /** Milliseconds that a refresh with all its retries may take; default 60,000. */
  refreshTimeoutMs?: number;
}

/** The tokens of one account: its state machine of spec §3. */
export interface AccountTokens {
  /** Whether uploads may be expected to work. Never calls out. */
  isAuthenticated(): Promise<boolean>;
  /**
   * An access token that is good for some minutes, refreshed where need be.
   * @param refused a token that the platform has just refused
   * @throws HubError `no_authentication`, `token_expired`, `oauth_failed`, `upstream_unavailable`
   */
  accessToken(signal: AbortSignal, refused?: string): Promise<string>;
  /** Stores the tokens of a new grant. */
  accept(tokens: Tokens): Promise<void>;
  /** Revokes and deletes; what became of the grant. */
  logout(signal: AbortSignal): Promise<'nothing' | 'revoked' | 'not-revoked'>;
}

/** A token this near to its end is not worth sending. */
const TOO_LATE_MS = 10_000;

export function createAccountTokens(deps: AccountTokensDeps): AccountTokens {
  const { accountId, store, identity, logger, now = Date.now } = deps;
  const { refreshAheadMs = 300_000, refreshTimeoutMs = 60_000 } = deps;
  let refreshing: Promise<Tokens> | undefined;

  const isFresh = (tokens: Tokens, refused: string | undefined, aheadMs: number) =>
    tokens.access_token !== refused && tokens.expiry_date - now() > aheadMs;

  async function readTokens(): Promise<Tokens> {
    let tokens: Tokens | undefined;
    try {
      tokens = await store.read(accountId);
    } catch (error) {
      logger.error('The stored tokens cannot be read', { target: accountId, error });
      throw noAuthentication(accountId, 'token_file_unreadable', error);
    }
    if (tokens === undefined) throw noAuthentication(accountId);
    return tokens;
  }

  /** Why the refresh token at hand is known to be useless; a new one in the file makes the note void. */
  async function refusalOf(tokens: Tokens): Promise<string | undefined> {
    if (tokens.refresh_token === undefined) return 'no_refresh_token';
    const text = await store.readNote(accountId, 'refused');
    const [digest, reason] = text?.split(' ') ?? [];
    return digest === digestOf(tokens.refresh_token) ? (reason ?? 'invalid_grant') : undefined;
  }

  /** One refresh, with every other copy of the hub kept away from this account meanwhile. */
  async function refresh(refused: string | undefined): Promise<Tokens> {
    const signal = AbortSignal.timeout(refreshTimeoutMs);
    const release = await store.lock(accountId, signal);
    try {
      const tokens = await readTokens();
      // Another copy was quicker.
      if (isFresh(tokens, refused, refreshAheadMs)) return tokens;
      const known = await refusalOf(tokens);
      if (known !== undefined || tokens.refresh_token === undefined) {
        throw tokenExpired(accountId, known ?? 'no_refresh_token');
      }
      return await renew(tokens, tokens.refresh_token, signal);
    } finally {
      await release();
    }
  }

  async function renew(tokens: Tokens, refreshToken: string, signal: AbortSignal): Promise<Tokens> {
    try {
      const fresh = await identity.refresh(refreshToken, signal);
      // A reply without a refresh token or a scope means that the old one stays (RFC 6749 §6).
      const merged = { ...tokens, ...fresh, scope: fresh.scope || tokens.scope };
      await store.write(accountId, merged);
      logger.info('The access token was refreshed', {
        target: accountId,
        expiresAt: new Date(merged.expiry_date).toISOString(),
        rotated: fresh.refresh_token !== undefined && fresh.refresh_token !== refreshToken,
      });
      return merged;
    } catch (error) {
      if (error instanceof HubError && error.code === 'token_expired') {
        const reason = String(error.extra?.reason ?? 'invalid_grant');
        await store.writeNote(accountId, 'refused', `${digestOf(refreshToken)} ${reason}`);
      }
      logger.warn('The access token could not be refreshed', { target: accountId, ...described(error) });
      throw error;
    }
  }

  function refreshOnce(refused: string | undefined): Promise<Tokens> {
    refreshing ??= refresh(refused).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  return {
    async isAuthenticated() {
      const tokens = await store.read(accountId).catch(() => undefined);
      if (tokens === undefined) return false;
      if ((await refusalOf(tokens)) === undefined) return true;
      return tokens.refresh_token === undefined && tokens.expiry_date > now();
    },

    async accessToken(signal, refused) {
      const tokens = await readTokens();
      if (isFresh(tokens, refused, refreshAheadMs)) return tokens.access_token;
      try {
        return (await unlessAborted(refreshOnce(refused), signal)).access_token;
      } catch (error) {
        // The refresh came early: the token at hand may still do.
        if (!signal.aborted && isFresh(tokens, refused, TOO_LATE_MS)) return tokens.access_token;
        throw error;
      }
    },

    async accept(tokens) {
      const release = await store.lock(accountId, AbortSignal.timeout(refreshTimeoutMs));
      try {
        await store.write(accountId, tokens);
        await store.removeNote(accountId, 'refused');
      } finally {
        await release();
      }
    },

    async logout(signal) {
      const release = await store.lock(accountId, signal);
      try {
        const tokens = await store.read(accountId).catch(() => undefined);
        let outcome: 'nothing' | 'revoked' | 'not-revoked' = 'nothing';
        if (tokens !== undefined) {
          // Revoking the refresh token ends the whole grant (RFC 7009 §2.1).
          outcome = await identity.revoke(tokens.refresh_token ?? tokens.access_token, signal).then(
            () => 'revoked' as const,
            (error: unknown) => {
              logger.warn('The grant could not be revoked', { target: accountId, ...described(error) });
              return 'not-revoked' as const;
            },
          );
        }
        const existed = await store.remove(accountId);
        if (existed) logger.info('The account was logged out', { target: accountId, outcome });
        return outcome;
      } finally {
        await release();
      }
    },
  };
}

/** Tells one refresh token from another without keeping it. */
function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** A failure for the log: code, reason and what the other side said. */
export function described(error: unknown): { code?: string; reason?: unknown; error: unknown } {
  if (!(error instanceof HubError)) return { error };
  return { code: error.code, reason: error.extra?.reason, error: error.cause ?? error.message };
}

/** Waits for a result that others wait for too, as long as this caller is there. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
