/** The tables that scenarios share. What only a gateway can have is a dash for `direct`. */
import { show, table } from './report.mjs';
import { medianOf, sumOf } from './rounds.mjs';

/** Requests a second, processor time and latency of each system; `of(workload, system)` gives its rounds. */
export function unaryTable(title, workload, systems, of) {
  const direct = of(workload, 'direct');
  const rows = systems.map(({ name }) => {
    const results = of(workload, name);
    const added = (share) =>
      name === 'direct'
        ? '–'
        : show(
            medianOf(
              results.map((r, i) => r.latencyMs[share] - direct[i].latencyMs[share]),
              Number,
            ),
          );
    return [
      name,
      show(medianOf(results, (r) => r.requestsPerSecond)),
      name === 'direct' ? '–' : show(medianOf(results, (r) => r.processorMicros)),
      show(medianOf(results, (r) => r.latencyMs.p50)),
      show(medianOf(results, (r) => r.latencyMs.p99)),
      added('p50'),
      added('p99'),
      sumOf(results, (r) => r.failed),
    ];
  });
  const head = [
    title,
    'requests/s',
    'processor µs/request',
    'p50 ms',
    'p99 ms',
    'added p50',
    'added p99',
    'failed',
  ];
  return table(head, rows);
}

/** First chunk, delay of every chunk, memory and losses of each system, for streams of `frames` chunks. */
export function streamTable(title, workload, systems, of, frames) {
  const rows = systems.map(({ name }) => {
    const results = of(workload, name);
    return [
      name,
      show(medianOf(results, (r) => r.firstChunkMs.p50)),
      show(medianOf(results, (r) => r.firstChunkMs.p99)),
      show(medianOf(results, (r) => r.frameDelayMs.p50)),
      show(medianOf(results, (r) => r.frameDelayMs.p99)),
      name === 'direct' ? '–' : show(medianOf(results, (r) => r.processorMicros)),
      name === 'direct' ? '–' : show(medianOf(results, (r) => r.residentMb)),
      `${sumOf(results, (r) => r.streamsLost)} of ${sumOf(results, (r) => r.streams)}`,
      `${sumOf(results, (r) => r.framesLost)} of ${sumOf(results, (r) => r.streams) * frames}`,
    ];
  });
  const head = [
    title,
    'first chunk p50 ms',
    'p99 ms',
    'chunk delay p50 ms',
    'p99 ms',
    'processor µs/chunk',
    'resident MB',
    'streams lost',
    'chunks lost',
  ];
  return table(head, rows);
}
