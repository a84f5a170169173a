import type { IncomingMessage } from 'node:http';

/** RFC 6750 §2.1, generous with what a token may hold; the scheme is case-insensitive (RFC 9110 §11.1). */
const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

/** The bearer token of a request; undefined where it presents none. */
export function bearerOf({ headers }: IncomingMessage): { token: string } | 'malformed' | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const token = BEARER.exec(authorization)?.[1];
  if (token !== undefined) return { token };
  return /^bearer\b/i.test(authorization) ? 'malformed' : undefined;
}
