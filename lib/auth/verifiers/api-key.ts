import { tokenHash } from '../token-cache.ts';
import type { Verifier } from '../verifier.ts';

/**
 * Checks a bearer against configured hashes. The look-up is by SHA-256, so its timing tells nothing about a key:
 * whoever can choose the hash already knows the key.
 */
export function createApiKeyVerifier(keys: readonly { id: string; sha256: string }[]): Verifier {
  const idByHash = new Map(keys.map(({ id, sha256 }) => [sha256.toLowerCase(), id]));
  return {
    async verify(token) {
      const id = idByHash.get(tokenHash(token));
      return id === undefined ? undefined : { id };
    },
  };
}
