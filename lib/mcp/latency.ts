import type { LatencySummary } from '../usage/usage.ts';

/** Durations of calls: exact mean and extremes, percentiles over the last `size` of them. */
export interface LatencyRecorder {
  add(ms: number): void;
  summary(): LatencySummary;
}

export function createLatencyRecorder(size: number): LatencyRecorder {
  const recent: number[] = [];
  let count = 0;
  let sum = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = 0;

  return {
    add(ms) {
      recent[count % size] = ms;
      count += 1;
      sum += ms;
      if (ms < min) min = ms;
      if (ms > max) max = ms;
    },
    summary() {
      if (count === 0) return { avg: null, min: null, max: null, p50: null, p95: null, p99: null };
      const sorted = [...recent].sort((a, b) => a - b);
      const at = (share: number) => rounded(sorted[Math.ceil(share * sorted.length) - 1] ?? max);
      return {
        avg: rounded(sum / count),
        min: rounded(min),
        max: rounded(max),
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
      };
    },
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
