/**
 * The load generator: one process for the whole run, so that it is as warm for the last round as for the second.
 * Forked; takes `{kind, job}` messages one at a time and answers `{result}` or `{error}`.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sdkLoad } from './load-sdk.mjs';
import { streamLoad } from './load-streams.mjs';
import { unaryLoad } from './load-unary.mjs';
import { atEnd } from './processes.mjs';

const kinds = {
  unary: unaryLoad,
  streams: streamLoad,
  toolCalls: (job) => (job.direct ? sdkLoad(job) : unaryLoad(job)),
};

/** Starts the generator. `run(kind, job)` resolves with the job's result. */
export function startLoadGenerator() {
  const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, BENCH_LOAD_GENERATOR: '1' } });
  let waiting;
  child.on('message', ({ result, error }) =>
    error ? waiting.reject(new Error(error)) : waiting.resolve(result),
  );
  child.on('exit', () => waiting?.reject(new Error('the load generator ended')));
  atEnd(() => child.kill());
  return {
    pid: child.pid,
    run: (kind, job) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        child.send({ kind, job });
      }),
  };
}

if (process.env.BENCH_LOAD_GENERATOR && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('message', ({ kind, job }) => {
    kinds[kind](job).then(
      (result) => process.send({ result }),
      (error) => process.send({ error: error.stack }),
    );
  });
  process.on('disconnect', () => process.exit());
}
