/** Doubling delays in ms, each shortened by up to a half at random, so that restarts do not fall in step. */
export function createBackoff(
  limits: { first: number; longest: number },
  random: () => number = Math.random,
): { next(): number; reset(): void } {
  let attempts = 0;
  return {
    next() {
      const full = Math.min(limits.longest, limits.first * 2 ** attempts);
      attempts += 1;
      return Math.round(full * (1 - random() / 2));
    },
    reset() {
      attempts = 0;
    },
  };
}
