import { describe, expect, test } from '@jest/globals';
import { bucketOf, createHistogram } from '../../../lib/usage/histogram.ts';
import { createRandom } from './random.ts';

function histogramOf(values: readonly number[]) {
  const histogram = createHistogram();
  for (const ms of values) histogram.record(ms, bucketOf(ms));
  return histogram;
}

const exact = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(share * values.length) - 1] as number;

describe('a latency histogram', () => {
  const random = createRandom(7);
  const distributions: [string, () => number][] = [
    ['evenly spread', () => random.share() * 1000],
    ['long-tailed', () => Math.exp(random.share() * 14)],
    ['very fast', () => random.share() * 0.5 + 0.02],
    ['of two kinds', () => (random.below(10) === 0 ? 30_000 : 3) * (1 + random.share())],
  ];

  test.each(distributions)('of %s values gives percentiles within three percent', (_, draw) => {
    const values = Array.from({ length: 5000 }, draw);
    const { avg, min, max, p50, p95, p99 } = histogramOf(values).summary();
    expect(Math.abs((p50 as number) / exact(values, 0.5) - 1)).toBeLessThan(0.03);
    expect(Math.abs((p95 as number) / exact(values, 0.95) - 1)).toBeLessThan(0.03);
    expect(Math.abs((p99 as number) / exact(values, 0.99) - 1)).toBeLessThan(0.03);
    expect(avg).toBeCloseTo(values.reduce((sum, ms) => sum + ms, 0) / values.length, 2);
    expect(min).toBeCloseTo(exact(values, 0.0001), 2);
    expect(max).toBeCloseTo(exact(values, 1), 2);
  });

  test('orders its figures and stays within what was measured', () => {
    for (const values of [[0], [5], [1, 2], [0.001, 1e9], [3, 3, 3]]) {
      const { avg, min, max, p50, p95, p99 } = histogramOf(values).summary() as unknown as Record<
        string,
        number
      >;
      expect([min, p50, p95, p99, max]).toEqual(
        [min, p50, p95, p99, max].sort((a, b) => Number(a) - Number(b)),
      );
      expect(avg).toBeGreaterThanOrEqual(min as number);
      expect(avg).toBeLessThanOrEqual(max as number);
    }
  });

  test('says nothing while nothing was measured', () => {
    expect(histogramOf([]).summary()).toEqual({
      avg: null,
      min: null,
      max: null,
      p50: null,
      p95: null,
      p99: null,
    });
  });
});
