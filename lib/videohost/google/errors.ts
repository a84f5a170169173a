import type { HubError } from '../../errors/hub-error.ts';
import type { PlatformFailure } from '../platform.ts';
import {
  formError,
  insufficientPermissions,
  oauthMisconfigured,
  oauthRefused,
  platformUnavailable,
  quotaExceeded,
  redirectUriMismatch,
  tokenExpired,
  uploadLimitExceeded,
  videoError,
} from '../video-errors.ts';

/** The parts of Google's error body that decide (JSON, format of the Data API v3). */
interface ApiErrorBody {
  error?: {
    message?: string;
    status?: string;
    errors?: { reason?: string; message?: string }[];
    details?: { reason?: string }[];
  };
}

const QUOTA = new Set(['quotaExceeded', 'dailyLimitExceeded', 'dailyLimitExceededUnreg']);
const PACE = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'RATE_LIMIT_EXCEEDED']);
const NOT_ENABLED = new Set(['accessNotConfigured', 'SERVICE_DISABLED']);
const SCOPE = new Set([
  'insufficientPermissions',
  'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
  'insufficientScope',
  'youtubeSignupRequired',
  'channelForbidden',
]);
/** Reasons that name a field of the form. */
const FIELDS: Record<string, string> = {
  invalidTitle: 'title',
  invalidDescription: 'description',
  invalidTags: 'tags',
  invalidCategoryId: 'categoryId',
  invalidPublishAt: 'publishAt',
  invalidVideoMetadata: 'title',
  defaultLanguageNotSet: 'defaultLanguage',
  mediaBodyRequired: 'video',
};

/** Translates a refusal of the Data API, by its reason, not by its text. */
export function translateApiFailure(
  target: string,
  status: number,
  headers: Record<string, string | string[] | undefined>,
  body: string,
  now: number,
): PlatformFailure {
  const { reason, text } = readApiError(body, status);
  const cause = new Error(`the video platform answered ${status} ${reason}: ${text}`);
  const failure = (error: HubError, facts: Partial<PlatformFailure> = {}): PlatformFailure => ({
    error,
    isPassing: false,
    isTokenRefused: false,
    retryAfterMs: readRetryAfter(headers['retry-after'], now),
    ...facts,
  });

  if (QUOTA.has(reason)) return failure(quotaExceeded(target, reason, now, cause));
  if (reason === 'uploadLimitExceeded') return failure(uploadLimitExceeded(target, reason, cause));
  if (PACE.has(reason) && namesUploadsADay(text)) return failure(quotaExceeded(target, reason, now, cause));
  if (NOT_ENABLED.has(reason)) return failure(oauthMisconfigured(target, reason, cause));
  if (SCOPE.has(reason)) return failure(insufficientPermissions(target, reason, cause));
  const field = FIELDS[reason];
  if (field !== undefined && status < 500) {
    return failure(formError(target, field, `The platform refuses the field ${field}: ${text}`, reason));
  }
  if (PACE.has(reason) || status === 429 || status === 408 || status >= 500) {
    return failure(platformUnavailable(target, 'video platform', reason, cause), { isPassing: true });
  }
  if (status === 401) return failure(tokenExpired(target, reason, cause), { isTokenRefused: true });
  if (status === 403) return failure(insufficientPermissions(target, reason, cause));
  return failure(
    videoError('upstream_error', 'The video platform refused the request', {
      target,
      reason,
      cause,
      hint: `The platform says: ${text}`,
    }),
  );
}

/** Translates a refusal of Google's OAuth endpoints (RFC 6749 §5.2). */
export function translateOAuthFailure(
  account: { id: string; redirectUri: string },
  stage: 'exchange' | 'refresh' | 'revoke',
  status: number,
  body: string,
): HubError {
  const { id } = account;
  const { error, description } = readOAuthError(body);
  const reason = error === '' ? `http_${status}` : error;
  const cause = new Error(`the identity provider answered ${status} ${reason}: ${description}`);
  if (status >= 500 || status === 429 || status === 408) {
    return platformUnavailable(id, 'identity provider', reason, cause);
  }
  return oauthErrorOf(account, stage, reason, cause);
}

/** By the word alone, also where it came as a query parameter of the callback. */
export function oauthErrorOf(
  { id, redirectUri }: { id: string; redirectUri: string },
  stage: 'authorize' | 'exchange' | 'refresh' | 'revoke',
  reason: string,
  cause?: unknown,
): HubError {
  switch (reason) {
    case 'redirect_uri_mismatch':
      return redirectUriMismatch(id, redirectUri, cause);
    case 'invalid_grant':
      return stage === 'refresh' ? tokenExpired(id, reason, cause) : oauthRefused(id, reason, cause);
    case 'access_denied':
    case 'interaction_required':
    case 'login_required':
    case 'consent_required':
      return oauthRefused(id, reason, cause);
    case 'server_error':
    case 'temporarily_unavailable':
      return platformUnavailable(id, 'identity provider', reason, cause);
    default:
      return stage === 'authorize' && reason !== 'invalid_client' && reason !== 'unauthorized_client'
        ? oauthRefused(id, reason, cause)
        : oauthMisconfigured(id, reason, cause);
  }
}

function readApiError(body: string, status: number): { reason: string; text: string } {
  const parsed = parseObject(body) as ApiErrorBody;
  const first = parsed.error?.errors?.[0];
  const detail = parsed.error?.details?.find(({ reason }) => typeof reason === 'string');
  // Newer errors say `forbidden` in the old list, and what is the matter in the details.
  const known = detail?.reason !== undefined && (NOT_ENABLED.has(detail.reason) || SCOPE.has(detail.reason));
  const reason = known ? detail.reason : (first?.reason ?? detail?.reason ?? parsed.error?.status);
  return {
    reason: typeof reason === 'string' && /^[\w.-]{1,80}$/.test(reason) ? reason : `http_${status}`,
    text: plainText(first?.message ?? parsed.error?.message ?? ''),
  };
}

function readOAuthError(body: string): { error: string; description: string } {
  const parsed = parseObject(body) as { error?: unknown; error_description?: unknown };
  const error = typeof parsed.error === 'string' && /^[\w.-]{1,80}$/.test(parsed.error) ? parsed.error : '';
  return { error, description: plainText(String(parsed.error_description ?? '')) };
}

function parseObject(body: string): object {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Google puts links into its messages. */
function plainText(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 500);
}

function namesUploadsADay(text: string): boolean {
  return /upload/i.test(text) && /per day|a day|daily/i.test(text);
}

/** `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110 §10.2.3). */
function readRetryAfter(value: string | string[] | undefined, now: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
