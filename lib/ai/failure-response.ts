import { HubError, type HubErrorCode } from '../errors/hub-error.ts';
import type { Failure, FailureKind } from './failure.ts';
import type { Target } from './targets.ts';

const CODES: Record<FailureKind, HubErrorCode> = {
  rejected: 'upstream_error',
  rate_limited: 'rate_limited',
  auth: 'upstream_auth_failed',
  unavailable: 'upstream_unavailable',
  bad_response: 'upstream_bad_response',
  timeout: 'upstream_timeout',
};

const MESSAGES: Record<FailureKind, string> = {
  rejected: 'The AI provider refused the request',
  rate_limited: 'The AI provider limits the rate of calls',
  auth: "The AI provider refused the hub's credentials",
  unavailable: 'The AI provider is not available',
  bad_response: 'The AI provider gave an answer that is not valid',
  timeout: 'The AI provider did not answer in time',
};

/** What the operator can do about it. */
const ADVICE: Record<FailureKind, string> = {
  rejected: 'the caller has to change the request',
  rate_limited: "raise the provider's limit, lower targets[].maxConcurrency, or add targets[].fallback",
  auth: "check targets[].apiKey, the account's billing and its access to the model",
  unavailable:
    "check targets[].baseUrl, the network and the provider's status page, or add targets[].fallback",
  bad_response: 'check that targets[].baseUrl and targets[].provider name the right API',
  timeout: 'raise the time-out named here, or add targets[].fallback',
};

/** The error that a caller is told. It never says where the provider is. */
export function hubErrorOf(failure: Failure, target: Target, headers?: Record<string, string>): HubError {
  return new HubError(CODES[failure.kind], `${MESSAGES[failure.kind]} (target ${target.id})`, {
    ...(failure.kind === 'rejected' && failure.status !== undefined && { status: failure.status }),
    ...(headers !== undefined && { headers }),
    cause: failure.cause ?? failure.detail,
  });
}

/** One line that tells the operator what happened, to which target, and what to do. */
export function adviceOf(failure: Failure, target: Target): string {
  const detail = target.maskSecrets(failure.detail);
  return `Target ${target.id}: ${MESSAGES[failure.kind]} (${detail}); ${ADVICE[failure.kind]}`;
}

/**
 * Whether the caller is told not to try again (contract §5): the hub has tried again itself, or it cannot help. A 429
 * whose Retry-After the hub did not wait out says nothing, because the caller may.
 */
export function forbidsRetry(failure: Failure, attempts: number, waitRefused: boolean): boolean {
  if (failure.kind === 'rejected') return false;
  if (failure.kind === 'auth') return true;
  if (failure.kind === 'rate_limited' && waitRefused) return false;
  return attempts > 1;
}
