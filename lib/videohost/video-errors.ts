import { HubError, type HubErrorCode, type HubErrorOptions } from '../errors/hub-error.ts';

/** What every error of the video routes says beside message, type and code (contract §7). */
export interface VideoErrorFacts extends Omit<HubErrorOptions, 'extra'> {
  /** Account id. */
  target: string;
  /** The platform's own word for it, or the hub's. */
  reason: string;
  /** What the operator or the user can do about it. */
  hint: string;
}

/** An error of the video routes. */
export function videoError(code: HubErrorCode, message: string, facts: VideoErrorFacts): HubError {
  const { target, reason, hint, ...options } = facts;
  return new HubError(code, message, { ...options, extra: { target, reason, hint } });
}

/** The caller's form is wrong at `param`. */
export function formError(target: string, param: string, message: string, reason = 'invalid_form'): HubError {
  return videoError('invalid_request', message, {
    target,
    param,
    reason,
    hint: `Correct the field ${param} and send the form again. Nothing was published.`,
  });
}

export function noAuthentication(target: string, reason = 'no_token_file', cause?: unknown): HubError {
  return videoError('no_authentication', `No authentication found for target: ${target}`, {
    target,
    reason,
    cause,
    hint: `Open the authUrl of GET /videohost/auth/idp with x-target: ${target} in a browser and grant access, or run: npx hub video login ${target}`,
  });
}

export function tokenExpired(target: string, reason: string, cause?: unknown): HubError {
  return videoError('token_expired', 'Token has been expired or revoked', {
    target,
    reason,
    cause,
    hint: 'Log out (POST /videohost/auth/logout) and authorize the account again. While the consent screen of the OAuth project is in the state "Testing", its refresh tokens end after 7 days: publish it.',
  });
}

export function insufficientPermissions(target: string, reason: string, cause?: unknown): HubError {
  const hints: Record<string, string> = {
    youtubeSignupRequired: 'The authorized account has no channel yet: create one, then try again.',
    missing_scopes:
      'The upload permission was not granted. Authorize the account again and leave every box of the consent page ticked.',
    forbidden:
      'The authorized account may not do this on its channel. Check its role there, and that the right channel was chosen at consent.',
  };
  return videoError('insufficient_permissions', 'Insufficient permissions', {
    target,
    reason,
    cause,
    hint:
      hints[reason] ??
      'Authorize the account again with every box of the consent page ticked, by a user with rights on the channel.',
  });
}

/** @param now milliseconds since the epoch */
export function quotaExceeded(target: string, reason: string, now: number, cause?: unknown): HubError {
  return videoError('quotaExceeded', 'quotaExceeded', {
    target,
    reason,
    cause,
    headers: { 'retry-after': String(secondsToMidnightPacific(now)) },
    hint: 'The daily quota of the OAuth project is used up. It begins anew at midnight Pacific time; a higher one can be requested in the project’s console.',
  });
}

export function uploadLimitExceeded(target: string, reason: string, cause?: unknown): HubError {
  return videoError('uploadLimitExceeded', 'uploadLimitExceeded', {
    target,
    reason,
    cause,
    hint: 'The channel has uploaded as many videos as the platform allows it within 24 hours. Try again tomorrow; verifying the channel raises the limit.',
  });
}

/** @param redirectUri the exact address that must be registered */
export function redirectUriMismatch(target: string, redirectUri: string, cause?: unknown): HubError {
  return videoError('redirect_uri_mismatch', 'redirect_uri_mismatch', {
    target,
    reason: 'redirect_uri_mismatch',
    cause,
    details: { redirectUri },
    hint: `Register exactly this redirect URI with the OAuth client, its target parameter included: ${redirectUri}`,
  });
}

/** The authorization was refused or is not ours: the user's to repeat. */
export function oauthRefused(target: string, reason: string, cause?: unknown): HubError {
  const hints: Record<string, string> = {
    access_denied:
      'Access was denied on the consent page. Begin again, choose an account with rights on the channel and grant access.',
    invalid_state:
      'This callback does not belong to an authorization that this hub began within the last 10 minutes. Begin again with GET /videohost/auth/idp.',
    state_used: 'This authorization was finished before. Begin a new one with GET /videohost/auth/idp.',
  };
  return videoError('oauth_failed', 'OAuth authentication failed', {
    target,
    reason,
    cause,
    status: 400,
    hint: hints[reason] ?? 'Begin the authorization again with GET /videohost/auth/idp.',
  });
}

/** The OAuth client or its project is not set up: the operator's to mend. */
export function oauthMisconfigured(target: string, reason: string, cause?: unknown): HubError {
  const isApi = /accessNotConfigured|SERVICE_DISABLED/.test(reason);
  return videoError('oauth_failed', 'OAuth authentication failed', {
    target,
    reason,
    cause,
    hint: isApi
      ? 'Enable the video platform’s Data API v3 in the project of this OAuth client, wait some minutes and try again.'
      : 'Check client_id and client_secret of this account, that its OAuth client still exists, and the consent screen of its project.',
  });
}

/** The platform or the identity provider is down, or does not answer. */
export function platformUnavailable(
  target: string,
  who: 'video platform' | 'identity provider',
  reason: string,
  cause?: unknown,
): HubError {
  return videoError('upstream_unavailable', `The ${who} is not available`, {
    target,
    reason,
    cause,
    hint: 'Nothing is wrong with the account. Try again later; with an Idempotency-Key an upload can be repeated safely.',
  });
}

/** The last chunk was sent, and what came of it cannot be learnt. */
export function outcomeUnknown(target: string, cause?: unknown): HubError {
  return videoError('upstream_unavailable', 'Whether the video was published cannot be told', {
    target,
    reason: 'outcome_unknown',
    hint: 'The platform fell silent, or ended the session, after its last byte was sent. Look for the video on the channel before you upload it again: the hub will not risk a second one.',
    cause,
  });
}

const PACIFIC = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  hourCycle: 'h23',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
});

/** Seconds until the platform's quotas begin anew; an hour off on the two days on which the clocks change. */
export function secondsToMidnightPacific(now: number): number {
  const [hour = 0, minute = 0, second = 0] = PACIFIC.formatToParts(now)
    .filter(({ type }) => type !== 'literal')
    .map(({ value }) => Number(value));
  return 86_400 - (hour * 3600 + minute * 60 + second);
}

/** Such an error as `{code, message}`: for an extra that failed without failing the upload. */
export function extraError(error: unknown): { code: string; message: string } {
  return error instanceof HubError
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'The hub failed to do this' };
}
