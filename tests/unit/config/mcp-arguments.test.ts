import { describe, expect, test } from '@jest/globals';
import { inlineCodeFlags, isLoaderName } from '../../../lib/config/rules/loader-risks.ts';
import { climbs, holdsNul } from '../../../lib/config/rules/traversal.ts';

describe('an argument climbs out of its directory', () => {
  test.each([
    '..',
    '../x',
    'a/../b',
    'a\\..\\b',
    '--root=..',
    '--root=../x',
    'x:..',
    'a,..',
    'a;..',
    'a ..',
    '%2e%2e/x',
    '%2E%2e%2fx',
    '..%2fx',
    '%252e%252e%252fx',
    '%25252e%25252e/x',
    '％25252e％25252e/x',
    '．．/x',
    '‥/x',
    'a／..／b',
    '%EF%BC%8E%EF%BC%8E/x',
    'file:///a/../b',
    '%ff../x/%2e%2e',
  ])('%j [S2.8-traversal]', (argument) => {
    expect(climbs(argument)).toBe(true);
  });

  test.each([
    'HEAD~1..HEAD',
    '...',
    '…',
    '/srv/...',
    'a..b',
    '..a',
    'a..',
    './a',
    '.',
    '',
    '-y',
    '@scope/server@1.2.3',
    '100%',
    '%zz/a',
    'https://example.org/a?b=c',
  ])('but %j does not [S2.8-traversal]', (argument) => {
    expect(climbs(argument)).toBe(false);
  });
});

test('a NUL is seen plainly and percent-encoded', () => {
  expect(['a\0', 'a%00', 'a%2500', '%ff%00'].map(holdsNul)).toEqual([true, true, true, true]);
  expect(['a', '%0', '%01'].map(holdsNul)).toEqual([false, false, false]);
});

describe('flags that bring code of their own', () => {
  test.each([
    ['node', ['-e', '1'], [0]],
    ['node', ['--eval=1'], [0]],
    ['node', ['-pe', '1'], [0]],
    ['node', ['--import', './x.mjs', 'server.js'], [0]],
    ['node', ['--max-old-space-size=64', '--require', 'x'], [1]],
    ['python3', ['-c', 'print(1)'], [0]],
    ['python', ['-Ic', 'print(1)'], [0]],
    ['npx', ['-y', '-c', 'x'], [1]],
    ['npx', ['--call=x'], [0]],
    ['uv', ['run', 'python', '-c', 'x'], [2]],
    ['node', ['server.js', '-c', 'config.json', '-e'], []],
    ['python3', ['-m', 'server', '-c', 'config.json'], []],
    ['python3', ['server.py', '-c', 'config.json'], []],
    ['npx', ['-y', '@scope/server'], []],
    ['uvx', ['mcp-server-git', '--repository', '.'], []],
  ] as const)('%s %j', (command, args, found) => {
    expect(inlineCodeFlags(command, args)).toEqual(found);
  });
});

test('environment names that make an interpreter load code', () => {
  const names = ['NODE_OPTIONS', 'LD_PRELOAD', 'PYTHONPATH', 'npm_config_registry', 'NPM_CONFIG_X'];
  expect(names.filter(isLoaderName)).toEqual(names);
  expect(['PATH', 'HOME', 'NODE_ENV', 'API_KEY', 'LANG'].filter(isLoaderName)).toEqual([]);
});
