import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SessionCookieOptions {
  /** `auth.session.cookie.name`. */
  name: string;
  /** `auth.session.cookie.secret`, at least 32 characters. */
  secret: string;
  sameSite: 'strict' | 'lax' | 'none';
  /** Lifetime of a session in milliseconds. */
  ttlMs: number;
}

/** Signatures kept, so that a busy caller's is not made anew for each request. */
const MAX_KNOWN = 10_000;

/** Reads and writes the session cookie: `<session id>.<HMAC-SHA256 of it>`, both base64url (contract §4). */
export interface SessionCookie {
  /** The session id of the first well-signed cookie of that name; undefined where there is none. */
  read(cookieHeader: string | undefined): string | undefined;
  /** Whether the request carries a cookie of that name at all, well-signed or not. */
  present(cookieHeader: string | undefined): boolean;
  /** Value of `Set-Cookie` for a new session. */
  issue(sessionId: string, secure: boolean): string;
  /** Value of `Set-Cookie` that removes the cookie. */
  clear(secure: boolean): string;
}

export function createSessionCookie({ name, secret, sameSite, ttlMs }: SessionCookieOptions): SessionCookie {
  const site = `SameSite=${sameSite[0]?.toUpperCase()}${sameSite.slice(1)}`;
  const attributes = (secure: boolean) =>
    `Path=/; HttpOnly; ${site}${secure || sameSite === 'none' ? '; Secure' : ''}`;

  // Only of ids that were issued or came well-signed: what strangers send is not kept.
  const known = new Map<string, Buffer>();

  /** As text: base64url spells the same bytes in several ways, and only the one that was issued is well-signed. */
  function signatureOf(sessionId: string): Buffer {
    const kept = known.get(sessionId);
    if (kept !== undefined) return kept;
    return Buffer.from(createHmac('sha256', secret).update(sessionId).digest('base64url'), 'latin1');
  }

  function remember(sessionId: string, signature: Buffer): void {
    if (known.has(sessionId)) return;
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(sessionId, signature);
  }

  function valuesOf(cookieHeader: string | undefined): string[] {
    if (cookieHeader === undefined || !cookieHeader.includes(name)) return [];
    return cookieHeader
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1));
  }

  function verified(value: string): string | undefined {
    const dot = value.indexOf('.');
    if (dot < 1) return undefined;
    const sessionId = value.slice(0, dot);
    const given = Buffer.from(value.slice(dot + 1), 'latin1');
    const expected = signatureOf(sessionId);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    remember(sessionId, expected);
    return sessionId;
  }

  return {
    read(cookieHeader) {
      for (const value of valuesOf(cookieHeader)) {
        const sessionId = verified(value);
        if (sessionId !== undefined) return sessionId;
      }
      return undefined;
    },
    present: (cookieHeader) => valuesOf(cookieHeader).length > 0,
    issue(sessionId, secure) {
      const signature = signatureOf(sessionId);
      remember(sessionId, signature);
      const maxAge = Math.floor(ttlMs / 1000);
      return `${name}=${sessionId}.${signature.toString('latin1')}; Max-Age=${maxAge}; ${attributes(secure)}`;
    },
    clear: (secure) => `${name}=; Max-Age=0; ${attributes(secure)}`,
  };
}
