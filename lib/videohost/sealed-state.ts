import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** What travels through the identity provider and the browser, readable by the hub only. */
export interface AuthorizationState {
  accountId: string;
  /** Used up by the callback. */
  nonce: string;
  /** PKCE code verifier (RFC 7636). */
  verifier: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

const IV_LENGTH = 12;
const TAG_LENGTH = 16;

/**
 * Seals the state of an authorization (AES-256-GCM), by a key derived from the account's client secret: any copy of
 * the hub with this configuration can open it, nobody else can make or read one. `undefined` for whatever is not
 * an unaltered seal of this key.
 */
export function createStateSeal(clientSecret: string): {
  seal(state: AuthorizationState): string;
  open(text: string): AuthorizationState | undefined;
} {
  const key = Buffer.from(hkdfSync('sha256', clientSecret, '', 'hub videohost authorization state', 32));
  return {
    seal(state) {
      const iv = randomBytes(IV_LENGTH);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const sealed = Buffer.concat([iv, cipher.update(JSON.stringify(state), 'utf8'), cipher.final()]);
      return Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64url');
    },
    open(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length <= IV_LENGTH + TAG_LENGTH) return undefined;
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_LENGTH));
        decipher.setAuthTag(bytes.subarray(-TAG_LENGTH));
        const opened = decipher.update(bytes.subarray(IV_LENGTH, -TAG_LENGTH));
        return JSON.parse(Buffer.concat([opened, decipher.final()]).toString('utf8')) as AuthorizationState;
      } catch {
        return undefined;
      }
    },
  };
}
