/** Interleaved rounds: every system meets every workload in each round, in an order that turns from round to round. */
import { residentMegabytes } from './proc.mjs';
import { median } from './stats.mjs';

/**
 * @param {{systems: {name: string, tree?(): number[]}[], workloads: {name: string, kind: string}[], rounds: number,
 *   jobFor(workload: object, system: object): object, generator: {run(kind: string, job: object): Promise<object>},
 *   say(line: string): void}} plan
 * @returns one measurement a system and workload: an array with a result for each round; `residentMb` is what the
 * system held right after the workload
 */
export async function runRounds({ systems, workloads, rounds, jobFor, generator, say }) {
  const results = new Map();
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    const order = systems.map((_, index) => systems[(index + round) % systems.length]);
    for (const workload of workloads) {
      for (const system of order) {
        const pids = system.tree?.() ?? [];
        const result = await generator.run(workload.kind, { ...jobFor(workload, system), pids });
        result.residentMb = residentMegabytes(pids);
        const key = `${workload.name} ${system.name}`;
        results.set(key, [...(results.get(key) ?? []), result]);
      }
    }
  }
  return (workload, system) => results.get(`${workload} ${system}`) ?? [];
}

/** Median over the rounds of what `pick` takes from each; NaN when nothing was measured. */
export function medianOf(measurements, pick) {
  return measurements.length === 0 ? Number.NaN : median(measurements.map(pick));
}

/** Sum over the rounds of what `pick` takes from each. */
export function sumOf(measurements, pick) {
  return measurements.reduce((sum, measurement) => sum + pick(measurement), 0);
}

/**
 * Median of the ratios within each round: what disturbs the machine for a while disturbs both sides of a ratio.
 * `pick` also gets the index of the round.
 */
export function medianRatio(over, under, pick) {
  const ratios = over.flatMap((measurement, round) =>
    under[round] ? [pick(measurement, round) / pick(under[round], round)] : [],
  );
  return ratios.length === 0 ? Number.NaN : median(ratios);
}
