import { createHash } from 'node:crypto';
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

/** A token that was let in. One object lives as long as the cache entry, so that a session can hang on it. */
export interface VerifiedToken {
  /** SHA-256 of the token, hex. The token itself is never kept. */
  readonly hash: string;
  readonly identity: Identity;
}

export interface TokenCache {
  /**
   * The verified token, or undefined where it is refused.
   * @throws HubError `identity_unavailable` on any doubt; that is not remembered.
   */
  verify(token: string): Promise<VerifiedToken | undefined>;
}

const NEGATIVE_TTL_MS = 5000;
const MAX_ENTRIES = 10_000;

interface Entry {
  verified: VerifiedToken | undefined;
  expiresAt: number;
}

/** Remembers answers by the token's SHA-256, and asks once for many who present one token (contract §4). */
export function createTokenCache({ verifier, cacheTtlMs, timeoutMs, now }: TokenCacheDeps): TokenCache {
  const entries = new Map<string, Entry>();
  const flights = new Map<string, Promise<VerifiedToken | undefined>>();

  function lookUp(hash: string): Entry | undefined {
    const entry = entries.get(hash);
    if (entry === undefined || entry.expiresAt > now()) return entry;
    entries.delete(hash);
    return undefined;
  }

  function remember(hash: string, verified: VerifiedToken | undefined): void {
    const ttl = verified === undefined ? NEGATIVE_TTL_MS : cacheTtlMs;
    const expiresAt = Math.min(now() + ttl, verified?.identity.expiresAt ?? Number.POSITIVE_INFINITY);
    entries.set(hash, { verified, expiresAt });
    if (entries.size <= MAX_ENTRIES) return;
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
    async verify(token) {
      const hash = createHash('sha256').update(token).digest('hex');
      const known = lookUp(hash);
      if (known !== undefined) return known.verified;
      let flight = flights.get(hash);
      if (flight === undefined) {
        flight = ask(token, hash).finally(() => flights.delete(hash));
        flights.set(hash, flight);
      }
      return flight;
    },
  };
}
