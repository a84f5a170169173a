import { expect, test } from '@jest/globals';
import { backoffDelay, retryAfterOf } from '../../../lib/ai/retry.ts';

const now = Date.parse('2026-11-20T10:00:00Z');

test.each<[Record<string, string | string[]>, number | undefined]>([
  [{}, undefined],
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '1.5' }, 1500],
  [{ 'retry-after': 'Fri, 20 Nov 2026 10:00:07 GMT' }, 7000],
  [{ 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' }, 0],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': ['1', '2'] }, undefined],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
])('Retry-After of %j is %s ms [C2-retry-after]', (headers, expected) => {
  expect(retryAfterOf(headers, now)).toBe(expected);
});

test('the wait doubles up to its limit, drawn anew each time', () => {
  expect([0, 1, 2, 3, 20].map((retry) => backoffDelay(retry, 3000, 1))).toEqual([
    500, 1000, 2000, 3000, 3000,
  ]);
  expect(backoffDelay(3, 8000, 0.25)).toBe(1000);
});
