/** The fake provider that a scenario's systems stand in front of, and without any of them `direct`. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORK } from '../lib/places.mjs';
import { startProgram } from '../lib/processes.mjs';

/**
 * Starts `lib/provider.mjs` with its arguments.
 * @returns its port on loopback, and the system that calls it directly
 */
export async function startProvider(...args) {
  const program = await startProgram({
    name: 'provider',
    command: process.execPath,
    args: [fileURLToPath(new URL('../lib/provider.mjs', import.meta.url)), ...args.map(String)],
    cwd: WORK,
    env: process.env,
    outputFile: join(WORK, 'provider/output.log'),
    ready: /provider on (\d+)/,
  });
  const upstreamPort = Number(program.match[1]);
  return {
    upstreamPort,
    direct: { name: 'direct', address: { host: '127.0.0.1', port: upstreamPort }, headers: {} },
  };
}
