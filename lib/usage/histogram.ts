import type { LatencySummary } from './usage.ts';

/** Each bucket reaches 5 % further than the one before, so that a percentile is at most 2.5 % off. */
const GROWTH = 1.05;
const LOG_GROWTH = Math.log(GROWTH);
/** Upper end of the first bucket, in milliseconds. */
const SMALLEST_MS = 0.01;
/** Lower end of the last bucket: about a day. */
const BUCKETS = Math.ceil(Math.log(86_400_000 / SMALLEST_MS) / LOG_GROWTH) + 1;

/** Durations in milliseconds, counted in buckets of growing width. */
export interface Histogram {
  /** Counts a duration; `bucket` is `bucketOf(ms)`, worked out once for all histograms that take it. */
  record(ms: number, bucket: number): void;
  summary(): LatencySummary;
  readonly count: number;
  readonly sumMs: number;
  /** How many durations were at most so long; exact to a bucket. */
  countUpTo(ms: number): number;
}

/** The bucket of a duration in milliseconds. */
export function bucketOf(ms: number): number {
  if (ms <= SMALLEST_MS) return 0;
  return Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / SMALLEST_MS) / LOG_GROWTH));
}

const EMPTY: LatencySummary = { avg: null, min: null, max: null, p50: null, p95: null, p99: null };

/** Rounds to a microsecond: more digits than were measured only cost bytes. */
export const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000;

export function createHistogram(): Histogram {
  const buckets = new Uint32Array(BUCKETS);
  let count = 0;
  let sum = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = 0;

  /** The duration that `share` of all do not exceed: the middle of its bucket, within what was measured. */
  function percentile(share: number): number {
    let left = Math.ceil(share * count);
    let bucket = 0;
    for (; bucket < BUCKETS - 1; bucket += 1) {
      left -= buckets[bucket] ?? 0;
      if (left <= 0) break;
    }
    const middle = SMALLEST_MS * GROWTH ** (bucket - 0.5);
    return roundMs(Math.min(max, Math.max(min, middle)));
  }

  return {
    record(ms, bucket) {
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      count += 1;
      sum += ms;
      if (ms < min) min = ms;
      if (ms > max) max = ms;
    },
    summary() {
      if (count === 0) return { ...EMPTY };
      return {
        avg: roundMs(sum / count),
        min: roundMs(min),
        max: roundMs(max),
        p50: percentile(0.5),
        p95: percentile(0.95),
        p99: percentile(0.99),
      };
    },
    get count() {
      return count;
    },
    get sumMs() {
      return sum;
    },
    countUpTo(ms) {
      const last = bucketOf(ms);
      let total = 0;
      for (let bucket = 0; bucket <= last; bucket += 1) total += buckets[bucket] ?? 0;
      return total;
    },
  };
}
