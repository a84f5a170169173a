/** How a scenario of many requests runs: its systems are warmed up, then meet each other round by round. */
import { startLoadGenerator } from './load-generator.mjs';
import { runRounds } from './rounds.mjs';

/**
 * Takes the options of a scenario with its `systems` and `jobFor`, as `runRounds` does, and:
 * @param workloads gives those of a round; for `true` short ones, which warm up too
 * @param warmUps rounds before those that count
 * @param onWarm called between the two; with `profile` the hub writes its profile from just before that on
 * @returns {Promise<{of: Function, turns: number, measured: object[]}>} the results as `runRounds` gives them, how many
 * rounds these are, and the workloads that were run
 */
export async function runSideBySide({
  systems,
  workloads,
  jobFor,
  quick,
  rounds,
  chosen,
  profile,
  say,
  warmUps = quick ? 2 : 3,
  onWarm,
}) {
  const wanted = (short) =>
    workloads(short).filter(({ name }) => chosen === undefined || chosen.includes(name));
  const plan = { systems, jobFor, generator: startLoadGenerator(), say };

  say('warming up');
  await runRounds({ ...plan, workloads: wanted(true), rounds: warmUps });
  if (profile) systems.find(({ name }) => name === 'hub')?.startProfiling();
  await onWarm?.();
  const turns = rounds ?? (quick ? 3 : 5);
  const measured = wanted(quick);
  const of = await runRounds({ ...plan, workloads: measured, rounds: turns });
  return { of, turns, measured };
}

/** A note with the first failures of each system and workload; none where there was no failure. */
export function failureNotes(systems, measured, of) {
  const failures = systems.flatMap(({ name }) =>
    measured.flatMap((workload) =>
      of(workload.name, name).flatMap((r) =>
        r.firstFailure ? [`- ${name}, ${workload.name}: ${r.firstFailure}`] : [],
      ),
    ),
  );
  if (failures.length === 0) return [];
  return [`First failures:\n\n${[...new Set(failures)].slice(0, 10).join('\n')}`];
}
