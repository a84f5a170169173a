/**
 * `npm run bench -- <scenario> [--quick] [--rounds N] [--only a,b] [--workloads a,b] [--profile]`
 *
 * Runs one scenario of `bench/scenarios/`, prints its tables and ends with 1 when a bound does not hold. A full run
 * also writes its tables into `bench/RESULTS.md`.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { summariseProfiles } from './lib/cpu-profile.mjs';
import { PROFILES } from './lib/places.mjs';
import { stopAll } from './lib/processes.mjs';
import { boundsTable, holds, loadNow, provenance, writeResults } from './lib/report.mjs';

const folder = new URL('./scenarios/', import.meta.url);
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    workloads: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
});
const name = positionals[0];
const known = readdirSync(folder).map((file) => file.replace(/\.mjs$/, ''));
if (!name || !existsSync(new URL(`${name}.mjs`, folder))) {
  console.error(
    `Which scenario? One of: ${known.join(', ')}. For example: npm run bench -- ${known[0]} --quick`,
  );
  process.exit(2);
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => stopAll().finally(() => process.exit(1)));
}

if (options.profile) rmSync(PROFILES, { recursive: true, force: true });
const loadBefore = loadNow();
const { scenario } = await import(new URL(`${name}.mjs`, folder));
try {
  const report = await scenario({
    quick: options.quick,
    rounds: options.rounds === undefined ? undefined : Number(options.rounds),
    only: options.only?.split(','),
    chosen: options.workloads?.split(','),
    profile: options.profile,
    say: (line) => console.error(line),
  });
  const partial = options.only !== undefined || options.workloads !== undefined;
  const bounds = partial ? report.bounds.filter(({ value }) => !Number.isNaN(value)) : report.bounds;
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  const text = [
    `## ${report.title}`,
    provenance({ command, loadBefore, ...report }),
    ...report.tables,
    ...(bounds.length > 0 ? [boundsTable(bounds)] : []),
    ...report.notes,
  ].join('\n\n');
  console.log(text);
  const full = !options.quick && !options.profile && !partial;
  if (full) writeResults(name, text);
  if (!bounds.every(holds)) process.exitCode = 1;
} finally {
  await stopAll();
}
// The profiles are written when the hub ends.
if (options.profile) console.log(`\n${summariseProfiles(PROFILES)}`);
