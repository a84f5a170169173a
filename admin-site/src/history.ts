import type { RuntimeUsage } from '../../lib/usage/usage.ts';

export type Range = 'hour' | 'day';

/** History as columns, ready to be drawn. */
export interface Timeline {
  /** Seconds since the epoch. */
  times: number[];
  requests: number[];
  errors: number[];
  promptTokens: number[];
  completionTokens: number[];
  latencyMs: (number | null)[];
}

const MINUTE = 60;
/** Minutes that are shown, and minutes that one point sums up. */
const RANGES: Record<Range, { minutes: number; step: number }> = {
  hour: { minutes: 60, step: 1 },
  day: { minutes: 1440, step: 10 },
};

/**
 * The last hour by minutes, or the last day by ten. Minutes before the counters began are zeros, so that the scale
 * stays where it is from refresh to refresh. Latency is the mean weighted by the answered requests.
 */
export function timelineOf(history: RuntimeUsage['history'], range: Range): Timeline {
  const { minutes, step } = RANGES[range];
  const width = step * MINUTE;
  const newest = Date.parse(history.at(-1)?.at ?? new Date().toISOString()) / 1000;
  const last = Math.floor(newest / width) * width;
  const points = minutes / step;
  const first = last - (points - 1) * width;
  const zeros = () => Array.from({ length: points }, () => 0);
  const timeline: Timeline = {
    times: zeros().map((_, index) => first + index * width),
    requests: zeros(),
    errors: zeros(),
    promptTokens: zeros(),
    completionTokens: zeros(),
    latencyMs: [],
  };
  const weights = zeros();
  const sums = zeros();
  for (const row of history) {
    const index = Math.floor((Date.parse(row.at) / 1000 - first) / width);
    if (index < 0 || index >= points) continue;
    const add = (column: number[], value: number) => {
      column[index] = (column[index] ?? 0) + value;
    };
    add(timeline.requests, row.requests);
    add(timeline.errors, row.errors);
    add(timeline.promptTokens, row.promptTokens);
    add(timeline.completionTokens, row.completionTokens);
    if (row.latencyAvgMs === null) continue;
    add(weights, row.requests);
    add(sums, row.latencyAvgMs * row.requests);
  }
  timeline.latencyMs = sums.map((sum, index) => (weights[index] ? sum / (weights[index] ?? 1) : null));
  return timeline;
}
