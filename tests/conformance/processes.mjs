/** Starts a node script of the repository, waits for a line of its output, and ends it by its id. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** @returns {Promise<{match: RegExpMatchArray, stop(): Promise<void>}>} */
export async function start(script, args, ready, { cwd = ROOT, env = {} } = {}) {
  const child = spawn(process.execPath, [join(ROOT, script), ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let output = '';
  const match = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output = (output + chunk).slice(-10_000);
      const found = ready.exec(output);
      if (found) resolve(found);
    });
    exited.then(() => reject(new Error(`${script} ended before it was ready:\n${output}`)));
  });
  return {
    match,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
