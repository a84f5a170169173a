import type { HubError } from '../errors/hub-error.ts';
import type { VideoMetadata } from './metadata.ts';
import type { Tokens } from './token-store/token-store.ts';

/** The identity provider's side of one account: OAuth 2.0 authorization code flow (RFC 6749) with PKCE (RFC 7636). */
export interface IdentityProvider {
  /** Where a person grants access. */
  authorizationUrl(request: { state: string; challenge: string; captions: boolean }): Promise<string>;
  /** @throws HubError in the words of contract §7. */
  exchange(grant: { code: string; verifier: string | undefined }, signal: AbortSignal): Promise<Tokens>;
  /**
   * New tokens for a refresh token; `refresh_token` is there only where it was rotated.
   * @throws HubError `token_expired` when it is refused, `oauth_failed` or `upstream_unavailable` otherwise.
   */
  refresh(refreshToken: string, signal: AbortSignal): Promise<Tokens>;
  /** Resolves when the token is no longer good, also where it was not before. @throws HubError */
  revoke(token: string, signal: AbortSignal): Promise<void>;
}

/** What the platform says of a finished upload. */
export interface PublishedVideo {
  id: string;
  privacyStatus: string | undefined;
}

/** An answer of the platform that is no success. */
export interface PlatformFailure {
  error: HubError;
  /** The same request may succeed later. */
  isPassing: boolean;
  /** The access token was refused: another one may do. */
  isTokenRefused: boolean;
  /** Milliseconds that the platform asks to wait. */
  retryAfterMs: number | undefined;
}

/** The video platform's side of one account. */
export interface VideoPlatform {
  /** Origin of the API, e.g. `https://www.googleapis.com`. */
  readonly origin: string;
  /** The request that opens a resumable session: path with query, and JSON body. */
  sessionRequest(metadata: VideoMetadata): { path: string; body: string };
  /** Reads the body of a finished upload; undefined when it is none. */
  publishedVideo(body: string): PublishedVideo | undefined;
  /** Translates a refusal. */
  failure(
    status: number,
    headers: Record<string, string | string[] | undefined>,
    body: string,
  ): PlatformFailure;
  watchUrl(videoId: string): string;
  /** @throws HubError */
  setThumbnail(videoId: string, image: { type: string; bytes: Buffer }, call: PlatformCall): Promise<void>;
  /** @throws HubError */
  addToPlaylist(videoId: string, playlistId: string, call: PlatformCall): Promise<void>;
  /** @throws HubError */
  addCaptions(
    videoId: string,
    captions: { language: string; text: string },
    call: PlatformCall,
  ): Promise<void>;
}

export interface PlatformCall {
  accessToken: string;
  signal: AbortSignal;
}
