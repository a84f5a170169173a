import {
  type CryptoKey,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { type Dispatcher, fetch } from 'undici';
import type { Verifier } from '../verifier.ts';
import { unavailable } from './edapi.ts';
import { identityIdOf } from './identity-fields.ts';

/** Asymmetric signatures only: a shared secret has no place in a public key set (RFC 8725 §3.1). */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Machines' clocks differ by seconds; more than this is no excuse. */
const CLOCK_TOLERANCE_SECONDS = 5;

export interface JwtVerifierDeps {
  issuer: string;
  audience: string;
  jwksUri: string;
  /** Longest wait for the key set, in milliseconds. */
  timeoutMs: number;
  dispatcher: Dispatcher;
}

/**
 * Checks a JSON Web Token against the issuer's key set (RFC 7519, RFC 7517). The set is kept for ten minutes and
 * fetched again sooner when a token names a key that it lacks, at most every five seconds.
 */
export function createJwtVerifier({
  issuer,
  audience,
  jwksUri,
  timeoutMs,
  dispatcher,
}: JwtVerifierDeps): Verifier {
  const keys = createRemoteJWKSet(new URL(jwksUri), {
    timeoutDuration: timeoutMs,
    cooldownDuration: 5000,
    [customFetch]: (url, options) =>
      fetch(url, { ...options, dispatcher } as Parameters<typeof fetch>[1]) as unknown as Promise<Response>,
  });
  const options = {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  };

  async function payloadOf(token: string): Promise<JWTPayload> {
    try {
      return (await jwtVerify(token, keys as JWTVerifyGetKey, options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      return payloadByAnyOf(error, token);
    }
  }

  /** A token that names no key is good when one of the keys that it may mean made its signature. */
  async function payloadByAnyOf(candidates: AsyncIterable<CryptoKey>, token: string): Promise<JWTPayload> {
    for await (const key of candidates) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }

  return {
    async verify(token) {
      try {
        const payload = await payloadOf(token);
        const id = identityIdOf(payload);
        if (id === undefined) return undefined;
        return payload.exp === undefined ? { id } : { id, expiresAt: payload.exp * 1000 };
      } catch (error) {
        if (isRefusal(error)) return undefined;
        throw unavailable('The key set cannot be had', error);
      }
    },
    close: () => dispatcher.close(),
  };
}

/** Faults of the token itself. A key set that is unreachable or malformed is not the caller's fault. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey
  );
}
