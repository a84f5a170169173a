import { retryAfterOf } from './retry.ts';
import type { Target } from './targets.ts';
import { faultOf } from './upstream/faults.ts';
import { addRateLimits } from './upstream/rate-limits.ts';
import type { ResponseHeaders } from './upstream/upstream.ts';

/** Why an attempt failed before anything went out to the caller: a row of the contract's error table (§5). */
export type FailureKind = 'rejected' | 'rate_limited' | 'auth' | 'unavailable' | 'bad_response' | 'timeout';

export interface Failure {
  readonly kind: FailureKind;
  /** For the operator's log, never for the caller: may name hosts. */
  readonly detail: string;
  /** Whether the same call may be sent again to the same target. */
  readonly mayRetry: boolean;
  /** The provider's status; undefined when it gave none. */
  readonly status?: number;
  /** The wait in ms that the provider asks for. */
  readonly retryAfterMs?: number;
  /** What of the provider's answer goes on to the caller, of kinds `rejected` and `rate_limited`. */
  readonly answer?: { contentType: string; headers: string[]; body: Buffer };
  readonly cause?: Error;
}

/** Which clock has run out. */
export type Clock = 'total' | 'first token' | 'idle';

/** A status that is no success, with as much of its body as was kept. */
export function failureOfStatus(
  status: number,
  headers: ResponseHeaders,
  body: Buffer,
  target: Target,
): Failure {
  const detail = `status ${status}: ${body.toString('utf8').slice(0, 500)}`;
  const { errors } = target.provider;
  const isAuth =
    status === 401 || status === 402 || status === 403 || errors.isCredentialFault?.(status, body);
  if (isAuth) return { kind: 'auth', detail, mayRetry: false, status };
  const retryAfterMs = retryAfterOf(headers, Date.now());
  const common = { detail, status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  // Some providers know better than their status whether another try makes sense.
  const mayRetry = headers['x-should-retry'] !== 'false';
  if (status >= 500) return { ...common, kind: 'unavailable', mayRetry };
  if (status < 400) return { ...common, kind: 'bad_response', mayRetry: false };
  const text = target.mask(errors.translate(status, body).toString('utf8'));
  const contentType = headers['content-type'];
  const answer = {
    contentType: typeof contentType === 'string' ? contentType : 'application/json',
    headers: [] as string[],
    body: Buffer.from(text),
  };
  addRateLimits(answer.headers, headers);
  if (status === 429) {
    const retryAfter = headers['retry-after'];
    if (typeof retryAfter === 'string') answer.headers.push('retry-after', retryAfter);
    return { ...common, kind: 'rate_limited', mayRetry, answer };
  }
  return { ...common, kind: 'rejected', mayRetry: false, answer };
}

/** No answer, or one that broke off. */
export function failureOfError(error: Error): Failure {
  const fault = faultOf(error);
  const detail = `${fault}: ${error.message}`;
  if (fault === 'timeout')
    return { kind: 'timeout', detail: `connect ${detail}`, mayRetry: false, cause: error };
  if (fault === 'malformed') return { kind: 'bad_response', detail, mayRetry: false, cause: error };
  return { kind: 'unavailable', detail, mayRetry: fault === 'refused' || fault === 'reset', cause: error };
}

export function failureOfClock(clock: Clock, ms: number): Failure {
  return { kind: 'timeout', detail: `${clock} timeout after ${Math.round(ms)} ms`, mayRetry: false };
}

export function failureOfBadAnswer(detail: string): Failure {
  return { kind: 'bad_response', detail, mayRetry: false };
}
