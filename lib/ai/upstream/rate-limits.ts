import type { ResponseHeaders } from './upstream.ts';

/** Passes the rate-limit headers of a provider on, which tell callers how much they have left. */
export function addRateLimits(headers: string[], received: ResponseHeaders): void {
  for (const name in received) {
    if (!name.includes('ratelimit') && name !== 'retry-after-ms') continue;
    const value = received[name];
    if (typeof value === 'string') headers.push(name, value);
  }
}
