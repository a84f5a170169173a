/** A histogram with fixed bounds, as Prometheus wants it. */
export interface BucketCounter {
  record(value: number): void;
  readonly count: number;
  readonly sum: number;
  /** Each bound with the number of values up to it; the last bound is infinite. */
  cumulative(): [bound: number, count: number][];
}

/** @param bounds ascending upper ends of the buckets; one without end is added. */
export function createBucketCounter(bounds: readonly number[]): BucketCounter {
  const counts = new Float64Array(bounds.length + 1);
  let count = 0;
  let sum = 0;
  return {
    record(value) {
      if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) return;
      let bucket = 0;
      while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket += 1;
      counts[bucket] = (counts[bucket] as number) + 1;
      count += 1;
      sum += value;
    },
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
    cumulative() {
      let total = 0;
      return [...counts].map((times, bucket) => {
        total += times;
        return [bounds[bucket] ?? Number.POSITIVE_INFINITY, total];
      });
    },
  };
}
