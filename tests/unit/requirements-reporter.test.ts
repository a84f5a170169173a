import { expect, test } from '@jest/globals';
import { citedIds, coverageFaults } from '../helpers/requirements-reporter.mjs';
import { requirements, unknownPending } from '../requirements.ts';

const clauses = {
  requirements: [{ id: 'C3-head' }, { id: 'C3-options', pending: 'http' }],
  unknownPending: [],
};
const run = (ids: string[], full = true) => ({
  cited: new Map(ids.map((id) => [id, 'a title'] as const)),
  verified: new Set(ids),
  full,
});

test('the ids of a test are those in the brackets that end its title', () => {
  expect(citedIds('HEAD answers as GET [C3-head, S4.1-health C3-options]')).toEqual([
    'C3-head',
    'S4.1-health',
    'C3-options',
  ]);
  expect(citedIds('OPTIONS needs no key [C3-options] [C3-head, S4.1-health]')).toEqual([
    'C3-options',
    'C3-head',
    'S4.1-health',
  ]);
  expect(citedIds('mcp.servers[0].args[1] is named')).toEqual([]);
  expect(citedIds('the row [C3-head] has no ids at its end')).toEqual([]);
});

test('a full run in which everything but the pending is verified has no fault', () => {
  expect(coverageFaults(clauses, run(['C3-head']))).toEqual([]);
});

test('an id that nobody verifies is a fault of a full run only', () => {
  expect(coverageFaults(clauses, run([]))).toEqual(['no passed test verifies C3-head']);
  expect(coverageFaults(clauses, run([], false))).toEqual([]);
});

test('a pending id that is verified has to leave the pending list', () => {
  expect(coverageFaults(clauses, run(['C3-head', 'C3-options']))).toEqual([
    'C3-options is verified: take it off the pending list',
  ]);
});

test('an unknown id is a fault of every run', () => {
  expect(coverageFaults(clauses, run(['C3-haed'], false))).toEqual([
    'unknown requirement C3-haed, cited by "a title"',
  ]);
});

test('every clause has an id of its own, and the pending list names clauses only', () => {
  const ids = requirements.map((requirement) => requirement.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[SC]\d+(\.\d+)?-[a-z0-9-]+$/.test(id))).toEqual([]);
  expect(unknownPending).toEqual([]);
});
