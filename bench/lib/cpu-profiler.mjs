/**
 * Preloaded (`--import`) into a process to be profiled, and into its children by NODE_OPTIONS, where `--cpu-prof` is
 * not allowed. Samples from SIGUSR2 on and writes `<program>-<pid>.cpuprofile` into BENCH_PROFILES at exit, so that
 * start and warm-up are not in it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { basename, join } from 'node:path';

const folder = process.env.BENCH_PROFILES;
const program = basename(process.argv[1] ?? 'node', '.mjs');

function startProfiling() {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 250 });
  session.post('Profiler.start');
  process.on('exit', () => {
    // Within one thread the answer comes before post returns.
    session.post('Profiler.stop', (error, result) => {
      if (error) return;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${program}-${process.pid}.cpuprofile`), JSON.stringify(result.profile));
    });
  });
}

if (folder) process.once('SIGUSR2', startProfiling);
