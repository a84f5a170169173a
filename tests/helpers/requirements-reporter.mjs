/**
 * Jest reporter: holds the tests against `tests/requirements.ts`. Ids count only where the test passed.
 * A full run fails on an id that is neither verified nor pending, on a pending id that is verified, and on a
 * pending id that does not exist. Any run fails on a cited id that does not exist.
 */
import { importTs } from './import-ts.mjs';

/** The ids in the brackets that end a title, e.g. `… [C3-head, C3-options]` or `… [C3-head] [C3-options]`. */
export function citedIds(title) {
  const brackets = /(?:\s*\[[SC]\d[^[\]]*\])+\s*$/.exec(title);
  return brackets === null ? [] : brackets[0].split(/[\s,[\]]+/).filter(Boolean);
}

/**
 * What is wrong between clauses and citations; an empty list when nothing is.
 * @param {{requirements: {id: string, pending?: string}[], unknownPending: string[]}} clauses
 * @param {{cited: Map<string, string>, verified: Set<string>, full: boolean}} run `cited`: id to one title.
 */
export function coverageFaults({ requirements, unknownPending }, { cited, verified, full }) {
  const known = new Map(requirements.map((requirement) => [requirement.id, requirement]));
  const faults = [...cited]
    .filter(([id]) => !known.has(id))
    .map(([id, title]) => `unknown requirement ${id}, cited by "${title}"`);
  if (!full) return faults;
  for (const id of unknownPending) faults.push(`unknown requirement ${id} in the pending list`);
  for (const { id, pending } of requirements) {
    if (pending === undefined && !verified.has(id)) faults.push(`no passed test verifies ${id}`);
    if (pending !== undefined && verified.has(id))
      faults.push(`${id} is verified: take it off the pending list`);
  }
  return faults;
}

function pendingByArea(requirements) {
  const areas = new Map();
  for (const { id, pending } of requirements) {
    if (pending !== undefined) areas.set(pending, [...(areas.get(pending) ?? []), id]);
  }
  return areas;
}

export default class RequirementsReporter {
  #full;
  #error;

  constructor(globalConfig) {
    const { testNamePattern, testPathPatterns, onlyChanged, findRelatedTests, shard } = globalConfig;
    const picked = testPathPatterns?.patterns?.length > 0 || testNamePattern;
    this.#full = !picked && !onlyChanged && !findRelatedTests && !shard;
  }

  async onRunComplete(_contexts, results) {
    const clauses = await importTs(new URL('../requirements.ts', import.meta.url));
    const cited = new Map();
    const verified = new Set();
    for (const test of results.testResults.flatMap((file) => file.testResults)) {
      for (const id of citedIds(test.title)) {
        cited.set(id, test.title);
        if (test.status === 'passed') verified.add(id);
      }
    }
    const faults = coverageFaults(clauses, { cited, verified, full: this.#full });
    if (this.#full) {
      const areas = pendingByArea(clauses.requirements);
      const total = clauses.requirements.length;
      console.log(`\nRequirements: ${verified.size} of ${total} verified`);
      for (const [area, ids] of areas) console.log(`  pending ${area} (${ids.length}): ${ids.join(' ')}`);
    }
    if (faults.length === 0) return;
    console.error(
      `\nRequirements: ${faults.length} faults\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
    this.#error = new Error(`${faults.length} requirement faults`);
  }

  getLastError() {
    return this.#error;
  }
}
