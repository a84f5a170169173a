import { expect, test } from '@jest/globals';
import { checkRest, readProxyTarget } from '../../../lib/proxy/target-path.ts';
import { createRandom } from '../usage/random.ts';

const accepts = (rest: string): boolean => {
  try {
    checkRest(rest);
    return true;
  } catch {
    return false;
  }
};

const PIECES = [
  '/',
  '.',
  '..',
  '%2e',
  '%2E',
  '%2f',
  '%5c',
  '\\',
  ';',
  '%3b',
  'a',
  '%25',
  '%20',
  '%00',
  '%252e',
  '%c0%ae',
  '%ef%bc%8e',
  'x.y',
];

/** Readers of a path, from strict to careless: each says which segments it sees. */
function readingsOf(path: string): string[][] {
  const readings: string[][] = [];
  let text = path;
  for (let round = 0; round < 4; round += 1) {
    for (const separator of [/\//, /[\\/]/]) {
      for (const trim of [(one: string) => one, (one: string) => one.split(';')[0]?.trim() ?? '']) {
        readings.push(text.normalize('NFKC').split('\0')[0]?.split(separator).map(trim) ?? []);
      }
    }
    try {
      text = decodeURIComponent(text);
    } catch {
      break;
    }
  }
  return readings;
}

/** Whether a reader who resolves `..` ends up above where it began. */
function leaves(segments: readonly string[]): boolean {
  let depth = 0;
  for (const segment of segments) {
    if (segment === '..') depth -= 1;
    else if (segment !== '.' && segment !== '') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

test('of generated paths none that passes can be read as one that leaves the base [C9-base-path]', () => {
  const random = createRandom(20261120);
  let passed = 0;
  for (let turn = 0; turn < 50_000; turn += 1) {
    const length = 1 + random.below(8);
    const path = `/${Array.from({ length }, () => random.pick(PIECES)).join('')}`;
    if (!accepts(path)) continue;
    passed += 1;
    const escaping = readingsOf(path).filter(leaves);
    expect([path, escaping]).toEqual([path, []]);
  }
  // The check is no wall either.
  expect(passed).toBeGreaterThan(5000);
});

test('what a path may hold beside that passes', () => {
  for (const rest of [
    '',
    '/',
    '/a.b/..c/d../...',
    '/%2e%2ea',
    '/a%2fb',
    '/100%25',
    '/a%252fb',
    '/%E2%9C%93',
    "/~!$&'()*+,;=:@",
    '/a//b',
    '/.hidden/.',
  ]) {
    expect([rest, accepts(rest)]).toEqual([rest, true]);
  }
});

test('a proxy is named by x-target, else by the first segment; everything else stays as written [C9-choice]', () => {
  expect(readProxyTarget('/proxy/a%20b/c?d=/e?f', undefined)).toEqual({
    id: 'a b',
    rest: '/c',
    query: '?d=/e?f',
  });
  expect(readProxyTarget('/proxy/a/c', 'x')).toEqual({ id: 'x', rest: '/a/c', query: '' });
  expect(readProxyTarget('/proxy', undefined)).toEqual({ id: undefined, rest: '', query: '' });
  expect(readProxyTarget('/proxy//x', undefined)).toEqual({ id: undefined, rest: '/x', query: '' });
  expect(readProxyTarget('/proxy?x', 'y')).toEqual({ id: 'y', rest: '', query: '?x' });
});
