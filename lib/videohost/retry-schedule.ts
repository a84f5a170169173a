/** When something that fails is tried again, and when no more. */
export interface RetrySchedule {
  /** Failures since the last progress. */
  readonly failures: number;
  /** There was progress: clock and delays begin anew. */
  reset(): void;
  /** The clock begins anew, the delays do not. */
  restartClock(): void;
  /** Counts a failure. Milliseconds to the next try; undefined where the time is up, or would be until then. */
  next(retryAfterMs?: number): number | undefined;
}

const LONGEST_DELAY_MS = 8000;

/**
 * Doubling delays, each shortened by up to a half at random.
 * @param retryFor milliseconds without progress after which nothing is tried again
 * @param retryDelayMs milliseconds before the first repetition, doubled each time
 */
export function createRetrySchedule(retryFor: number, retryDelayMs: number): RetrySchedule {
  let progressAt = performance.now();
  let failures = 0;
  return {
    get failures() {
      return failures;
    },
    reset() {
      progressAt = performance.now();
      failures = 0;
    },
    restartClock() {
      progressAt = performance.now();
    },
    next(retryAfterMs = 0) {
      const left = progressAt + retryFor - performance.now();
      const delay = Math.min(LONGEST_DELAY_MS, retryDelayMs * 2 ** failures) * (0.5 + Math.random() / 2);
      failures += 1;
      if (left <= 0 || retryAfterMs > left) return undefined;
      return Math.min(Math.max(delay, retryAfterMs), left);
    },
  };
}
