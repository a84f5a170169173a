import { describe, expect, test } from '@jest/globals';
import { cost, count, decimal, duration, ms, percent, plural } from '../../../admin-site/src/format.ts';

describe('numbers as the panel writes them', () => {
  test('a missing one is a dash, not a zero', () => {
    expect([ms(null), decimal(null)]).toEqual(['–', '–']);
  });

  test.each([
    [0, '0 %'],
    [0.0004, '<0.1 %'],
    [0.123, '12.3 %'],
    [0.9996, '>99.9 %'],
    [1, '100 %'],
  ])('the share %d is %s', (share, text) => expect(percent(share)).toBe(text));

  test.each([
    [0.456, '0.46 ms'],
    [12.34, '12.3 ms'],
    [1234, '1,234 ms'],
    [12_345, '12.3 s'],
  ])('%d ms are %s', (value, text) => expect(ms(value)).toBe(text));

  test.each([
    [59, '59 s'],
    [61, '1 min 1 s'],
    [3_660, '1 h 1 min'],
    [90_060, '1 d 1 h 1 min'],
  ])('%d seconds are %s', (seconds, text) => expect(duration(seconds)).toBe(text));

  test('counts have thousands, costs two decimals at least', () => {
    expect([count(1_234_567), cost(3), cost(0.001234)]).toEqual(['1,234,567', '3.00', '0.001234']);
    expect([plural(1, 'call'), plural(2, 'call'), plural(0, 'proxy', 'proxies')]).toEqual([
      '1 call',
      '2 calls',
      '0 proxies',
    ]);
  });
});
