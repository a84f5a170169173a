import { describe, expect, test } from '@jest/globals';
import { timelineOf } from '../../../admin-site/src/history.ts';

const row = (at: string, requests: number, latencyAvgMs: number | null = null) => ({
  at,
  requests,
  errors: requests > 2 ? 1 : 0,
  promptTokens: requests * 10,
  completionTokens: requests,
  latencyAvgMs,
});
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('the timeline of the charts', () => {
  const history = [
    row('2026-01-01T10:58:00.000Z', 2, 100),
    row('2026-01-01T10:59:00.000Z', 0),
    row('2026-01-01T11:00:00.000Z', 4, 400),
  ];

  test('of an hour has a point a minute and ends with the running one', () => {
    const { times, requests, errors, latencyMs } = timelineOf(history, 'hour');
    expect(times).toHaveLength(60);
    expect(times.at(-1)).toBe(Date.parse('2026-01-01T11:00:00Z') / 1000);
    expect(requests.slice(-4)).toEqual([0, 2, 0, 4]);
    expect(errors.slice(-3)).toEqual([0, 0, 1]);
    expect(latencyMs.slice(-3)).toEqual([100, null, 400]);
  });

  test('of a day sums up ten minutes, latency weighted by requests', () => {
    const { times, requests, latencyMs, promptTokens } = timelineOf(history, 'day');
    expect(times).toHaveLength(144);
    expect(requests.slice(-2)).toEqual([2, 4]);
    expect(latencyMs.slice(-2)).toEqual([100, 400]);
    expect(sum(promptTokens)).toBe(60);
    const mixed = timelineOf(
      [row('2026-01-01T11:00:00Z', 1, 100), row('2026-01-01T11:01:00Z', 3, 500)],
      'day',
    );
    expect(mixed.latencyMs.at(-1)).toBe(400);
  });

  test('loses nothing of a whole day and shows nothing older', () => {
    const start = Date.parse('2026-01-01T00:00:00Z');
    const day = Array.from({ length: 1440 }, (_, minute) =>
      row(new Date(start + minute * 60_000).toISOString(), 1),
    );
    expect(sum(timelineOf(day, 'day').requests)).toBe(1440);
    expect(sum(timelineOf(day, 'hour').requests)).toBe(60);
  });
});
