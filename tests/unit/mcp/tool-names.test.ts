import { expect, test } from '@jest/globals';
import { exposedNames } from '../../../lib/mcp/tool-names.ts';

const names = (...addresses: [string, string][]) => [
  ...exposedNames(addresses.map(([server, tool]) => ({ server, tool }))).keys(),
];

test('a tool is named <server>__<tool>, other characters as _ [C6-aggregate-names]', () => {
  expect(names(['git', 'log'], ['my.db', 'read/rows ü'])).toEqual(['git__log', 'my_db__read_rows__']);
});

test('a name past 64 characters is cut and ends in a hash of its own [C6-aggregate-long-names]', () => {
  const long = 'x'.repeat(80);
  const [first, second] = names(['s', `${long}1`], ['s', `${long}2`]);
  for (const name of [first, second]) expect(name).toMatch(/^s__x{52}_[0-9a-f]{8}$/);
  expect(first).not.toBe(second);
  expect(names(['s', 'x'.repeat(61)])).toEqual([`s__${'x'.repeat(61)}`]);
});

test('names that clash all end in a hash, whatever the order [C6-aggregate-long-names]', () => {
  const forward = names(['a.b', 't'], ['a_b', 't'], ['c', 't']);
  expect(forward).toEqual([
    expect.stringMatching(/^a_b__t_[0-9a-f]{8}$/),
    expect.stringMatching(/^a_b__t_[0-9a-f]{8}$/),
    'c__t',
  ]);
  expect(new Set(forward).size).toBe(3);
  expect([...names(['a_b', 't'], ['c', 't'], ['a.b', 't'])].sort()).toEqual([...forward].sort());
});
