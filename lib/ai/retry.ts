import type { ResponseHeaders } from './upstream/upstream.ts';

/** The first wait before a retry is drawn from 0 to this, and doubles each time. */
const FIRST_DELAY_MS = 500;

/**
 * Wait before retry number `retry` (0 = the first): exponential with full jitter, so that callers refused together
 * do not come back together.
 * @param random in [0, 1)
 */
export function backoffDelay(retry: number, maxDelay: number, random: number): number {
  return Math.min(maxDelay, FIRST_DELAY_MS * 2 ** retry) * random;
}

/**
 * The wait in ms that a provider asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110
 * §10.2.3). Undefined when it asks for none, or when the value makes no sense.
 */
export function retryAfterOf(headers: ResponseHeaders, now: number): number | undefined {
  const milliseconds = nonNegative(headers['retry-after-ms']);
  if (milliseconds !== undefined) return milliseconds;
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const seconds = nonNegative(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function nonNegative(value: string | string[] | undefined): number | undefined {
  return typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}
