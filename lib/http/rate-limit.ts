import { HubError } from '../errors/hub-error.ts';
import type { SharedStore, WindowCount } from '../store/shared-store.ts';
import type { RateLimitHeaders } from './gate.ts';
import type { Caller } from './request-context.ts';

export interface RateLimitDeps {
  /** `hub.rateLimit`. */
  windowMs: number;
  max: number;
  /** Counts for all copies of the gateway. */
  store: Pick<SharedStore, 'count'>;
  /** Counts for this one while the shared store is away. */
  ownStore: Pick<SharedStore, 'count'>;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

/** Callers past their limit that are remembered, so that a flood costs the store nothing. */
const MAX_REMEMBERED = 10_000;
/** A store that is away is asked again after this long, not by every request; in ms. */
const RETRY_STORE_MS = 1000;

/**
 * Limits requests per caller in fixed windows (contract §2 `hub.rateLimit`). Answers carry the fields of
 * draft-ietf-httpapi-ratelimit-headers, and beside them the three of its earlier editions, which clients read.
 */
export function createRateLimit(deps: RateLimitDeps): (caller: Caller) => Promise<RateLimitHeaders> {
  const { windowMs, max, store, ownStore, now } = deps;
  const policy = `"default";q=${max};w=${Math.ceil(windowMs / 1000)}`;
  const exhausted = new Map<string, number>();
  let askAgainAt = Number.NEGATIVE_INFINITY;

  /** Milliseconds until a caller known to be past the limit may try again. */
  function remainingOf(label: string): number | undefined {
    const until = exhausted.get(label);
    if (until === undefined) return undefined;
    const remaining = until - now();
    if (remaining > 0) return remaining;
    exhausted.delete(label);
    return undefined;
  }

  function refuse(label: string, resetMs: number): never {
    if (exhausted.size >= MAX_REMEMBERED) exhausted.clear();
    exhausted.set(label, now() + resetMs);
    const headers = headersOf(0, resetMs);
    throw new HubError('rate_limited', 'Too many requests; try again later', {
      headers: { ...headers, 'retry-after': headers['ratelimit-reset'] },
    });
  }

  function headersOf(remaining: number, resetMs: number) {
    const seconds = String(Math.ceil(resetMs / 1000));
    return {
      'ratelimit-policy': policy,
      ratelimit: `"default";r=${remaining};t=${seconds}`,
      'ratelimit-limit': String(max),
      'ratelimit-remaining': String(remaining),
      'ratelimit-reset': seconds,
    };
  }

  async function count(label: string): Promise<WindowCount> {
    if (now() < askAgainAt) return ownStore.count('rate', label, windowMs);
    try {
      return await store.count('rate', label, windowMs);
    } catch {
      askAgainAt = now() + RETRY_STORE_MS;
      return ownStore.count('rate', label, windowMs);
    }
  }

  return async ({ label }) => {
    const waitMs = remainingOf(label);
    if (waitMs !== undefined) refuse(label, waitMs);
    const { count: requests, resetMs } = await count(label);
    if (requests > max) refuse(label, resetMs);
    return headersOf(max - requests, resetMs);
  };
}
