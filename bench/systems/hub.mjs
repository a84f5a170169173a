/** The hub as its user starts it: both processes, counting and access log on. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, WORK } from '../lib/places.mjs';
import { startProgram } from '../lib/processes.mjs';

const ADMIN_KEY = 'bench-admin-key-bench-admin-key-0000';

/**
 * Starts the hub with `configuration` (YAML) added to an admin key and free ports.
 * @param profileFolder where both processes leave a V8 CPU profile, when given
 * @returns the running program; `usage()` reads its counters, `accessRecords(path)` its access log
 */
export async function startHub({ configuration, headers, profileFolder }) {
  const folder = join(WORK, 'hub');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'config.yaml');
  const admin = `auth:\n  admin:\n    enabled: true\n    apiKeys: [${ADMIN_KEY}]\n`;
  writeFileSync(file, `${admin}${configuration}`);
  const profiler = new URL('../lib/cpu-profiler.mjs', import.meta.url);
  const profiling = profileFolder && {
    BENCH_PROFILES: profileFolder,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${profiler}`,
  };
  const running = await startProgram({
    name: 'hub',
    command: process.execPath,
    args: [join(ROOT, 'scripts/run.mjs'), 'hub'],
    cwd: folder,
    env: {
      ...process.env,
      HUB_CONFIG: file,
      HUB_PORT: '0',
      AILINK_PORT: '0',
      ...profiling,
    },
    outputFile: join(folder, 'output.log'),
    ready: /hub listening on http:\/\/127\.0\.0\.1:(\d+)/,
  });
  const port = Number(running.match[1]);

  async function usage() {
    const answer = await fetch(`http://127.0.0.1:${port}/admin/runtime/usage`, {
      headers: { 'x-admin-key': ADMIN_KEY },
    });
    if (!answer.ok) throw new Error(`/admin/runtime/usage answered ${answer.status}`);
    return answer.json();
  }

  return {
    ...running,
    version: JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version,
    address: { host: '127.0.0.1', port },
    headers,
    usage,
    /** Has both processes sample their stacks from now on; needs `profileFolder`. */
    startProfiling() {
      for (const pid of running.tree()) process.kill(pid, 'SIGUSR2');
    },
    /** Access records of requests to `path` in its output so far. */
    accessRecords(path) {
      const mark = `"path":"${path}"`;
      return running
        .output()
        .split('\n')
        .filter((line) => line.includes(mark)).length;
    },
  };
}
