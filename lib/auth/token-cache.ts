import { hash as digest } from 'node:crypto';
import { HubError } from '../errors/hub-error.ts';
import type { Identity, Verifier } from './verifier.ts';

export interface TokenCacheDeps {
  verifier: Verifier;
  /** How long a positive answer is trusted, in milliseconds (`auth.cacheTtl`). */
  cacheTtlMs: number;
  /** Longest wait for the verifier, in milliseconds (`auth.timeout`). */
  timeoutMs: number;
  /** Milliseconds since the Unix epoch: a jwt's `exp` is compared with it. */
  now: () => number;
}

/** A token that was let in. */
export interface VerifiedToken {
  /** SHA-256 of the token, hex. The token itself is never kept. */
  readonly hash: string;
  readonly identity: Identity;
}

export interface TokenCache {
  /**
   * The verified token, at once where it is remembered, or undefined where it is refused.
   * @throws HubError `identity_unavailable` on any doubt; that is not remembered.
   */
  verify(token: string): VerifiedToken | undefined | Promise<VerifiedToken | undefined>;
}

const NEGATIVE_TTL_MS = 5000;
/** Together 10,000. Each kind has its own room: a flood of wrong tokens must not push right ones out. */
const MAX_ACCEPTED = 8000;
const MAX_REFUSED = 2000;
/** Tokens that wait for the verifier at once. More than that is a flood, which must not grow in memory. */
const MAX_FLIGHTS = 1000;

interface Entry {
  verified: VerifiedToken | undefined;
  expiresAt: number;
}

/** Names a token without telling it: its SHA-256, hex. */
export const tokenHash = (token: string): string => digest('sha256', token, 'hex');

/** Remembers answers by the token's SHA-256, and asks once for many who present one token (contract §4). */
export function createTokenCache({ verifier, cacheTtlMs, timeoutMs, now }: TokenCacheDeps): TokenCache {
  const accepted = new Map<string, Entry>();
  const refused = new Map<string, Entry>();
  const flights = new Map<string, Promise<VerifiedToken | undefined>>();

  function lookUp(hash: string): Entry | undefined {
    const entry = accepted.get(hash) ?? refused.get(hash);
    return entry !== undefined && entry.expiresAt > now() ? entry : undefined;
  }

  function remember(hash: string, verified: VerifiedToken | undefined): void {
    // A token can change sides: an identity that was removed, or one that has just been made.
    accepted.delete(hash);
    refused.delete(hash);
    const expiresAt =
      verified === undefined
        ? now() + NEGATIVE_TTL_MS
        : Math.min(now() + cacheTtlMs, verified.identity.expiresAt ?? Number.POSITIVE_INFINITY);
    const [entries, most] = verified === undefined ? [refused, MAX_REFUSED] : [accepted, MAX_ACCEPTED];
    entries.set(hash, { verified, expiresAt });
    if (entries.size <= most) return;
    const oldest = entries.keys().next();
    if (!oldest.done) entries.delete(oldest.value);
  }

  async function ask(token: string, hash: string): Promise<VerifiedToken | undefined> {
    // Many callers may wait for this one call: no single one's leaving ends it, only its own deadline.
    const identity = await verifier.verify(token, AbortSignal.timeout(timeoutMs));
    const verified = identity && { hash, identity };
    remember(hash, verified);
    return verified;
  }

  return {
    verify(token) {
      const hash = tokenHash(token);
      const known = lookUp(hash);
      if (known !== undefined) return known.verified;
      let flight = flights.get(hash);
      if (flight === undefined) {
        if (flights.size >= MAX_FLIGHTS) {
          throw new HubError('identity_unavailable', 'Too many tokens wait to be checked; try again later', {
            headers: { 'retry-after': '1' },
          });
        }
        flight = ask(token, hash).finally(() => flights.delete(hash));
        flights.set(hash, flight);
      }
      return flight;
    },
  };
}
