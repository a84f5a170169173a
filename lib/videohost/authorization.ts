import { createHash, randomBytes } from 'node:crypto';
import type { Logger } from '../logging/logger.ts';
import { type AccountTokens, described } from './account-tokens.ts';
import type { VideoAccount } from './accounts.ts';
import type { IdentityProvider } from './platform.ts';
import { type AuthorizationState, createStateSeal } from './sealed-state.ts';
import type { TokenStore, Tokens } from './token-store/token-store.ts';
import { insufficientPermissions, oauthRefused } from './video-errors.ts';

/** An authorization must be finished within this time; in ms. */
const STATE_LIFETIME_MS = 600_000;

export interface AuthorizationDeps {
  account: VideoAccount;
  store: TokenStore;
  identity: IdentityProvider;
  tokens: AccountTokens;
  /** Translates the `error` parameter of a callback. */
  callbackError: (reason: string) => Error;
  /** Whether granted scopes let the hub upload. */
  allowsUploads: (scope: string) => boolean;
  /** `videohost.requireState` */
  requireState: boolean;
  logger: Logger;
  now?: () => number;
}

/** The authorization code flow of one account (contract §7). */
export interface Authorization {
  /** The address at which a person grants access. Changes nothing, but see `requireState`. */
  begin(options: { captions: boolean }): Promise<string>;
  /** Takes the identity provider's redirect and stores the tokens. @throws HubError */
  finish(query: URLSearchParams, signal: AbortSignal): Promise<void>;
}

export function createAuthorization(deps: AuthorizationDeps): Authorization {
  const { account, store, identity, tokens, requireState, logger, now = Date.now } = deps;
  const target = account.id;
  const seal = createStateSeal(account.clientSecret);

  /** The state that `begin` gave out, used up by this call. @throws HubError `oauth_failed` */
  async function redeem(text: string | null): Promise<AuthorizationState | undefined> {
    const state = text === null ? undefined : seal.open(text);
    if (state === undefined || state.accountId !== target || state.expiresAt <= now()) {
      if (requireState) throw oauthRefused(target, 'invalid_state');
      return undefined;
    }
    if (!(await store.spend(state.nonce, state.expiresAt))) throw oauthRefused(target, 'state_used');
    return state;
  }

  /** Of an authorization whose state did not come back; only where that is allowed. */
  async function pendingVerifier(): Promise<string | undefined> {
    const text = await store.readNote(target, 'pending');
    await store.removeNote(target, 'pending');
    const [verifier, expiresAt] = text?.split(' ') ?? [];
    return Number(expiresAt) > now() ? verifier : undefined;
  }

  async function grant(query: URLSearchParams, signal: AbortSignal): Promise<Tokens> {
    const state = await redeem(query.get('state'));
    const refusal = query.get('error');
    if (refusal !== null) throw deps.callbackError(refusal);
    const code = query.get('code');
    if (code === null || code === '') throw oauthRefused(target, 'missing_code');
    const granted = await identity.exchange(
      { code, verifier: state?.verifier ?? (await pendingVerifier()) },
      signal,
    );
    if (!deps.allowsUploads(granted.scope)) {
      // Useless here, and nobody would think of taking it back.
      await identity.revoke(granted.refresh_token ?? granted.access_token, signal).catch(() => {});
      throw insufficientPermissions(target, 'missing_scopes');
    }
    return granted;
  }

  return {
    async begin({ captions }) {
      const verifier = randomBytes(32).toString('base64url');
      const expiresAt = now() + STATE_LIFETIME_MS;
      const nonce = randomBytes(16).toString('hex');
      if (!requireState) await store.writeNote(target, 'pending', `${verifier} ${expiresAt}`);
      logger.info('An authorization was begun', { target });
      return identity.authorizationUrl({
        state: seal.seal({ accountId: target, nonce, verifier, expiresAt }),
        challenge: createHash('sha256').update(verifier).digest('base64url'),
        captions,
      });
    },
    async finish(query, signal) {
      try {
        const granted = await grant(query, signal);
        await tokens.accept(granted);
        logger.info('The account was authorized', {
          target,
          scope: granted.scope,
          hasRefreshToken: granted.refresh_token !== undefined,
        });
      } catch (error) {
        logger.warn('An authorization failed', { target, ...described(error) });
        throw error;
      }
    },
  };
}
