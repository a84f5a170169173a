/** Who a bearer token stands for. */
export interface Identity {
  id: string;
  /** Milliseconds since the Unix epoch after which the token is worth nothing (a jwt's `exp`). */
  expiresAt?: number;
}

/**
 * Checks a bearer token (contract §4). Returns undefined where the token is refused; throws HubError
 * `identity_unavailable` on any doubt, never lets in.
 */
export interface Verifier {
  verify(token: string, signal: AbortSignal): Promise<Identity | undefined>;
  close?(): Promise<void>;
}
