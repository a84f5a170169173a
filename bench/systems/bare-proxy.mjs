/** A proxy in Node without any duty: what the hub's duties cost is what it takes more. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WORK } from '../lib/places.mjs';
import { startProgram } from '../lib/processes.mjs';

export async function startBareProxy({ upstreamPort }) {
  const running = await startProgram({
    name: 'bare-proxy',
    command: process.execPath,
    args: [fileURLToPath(new URL('../lib/bare-proxy.mjs', import.meta.url)), String(upstreamPort)],
    cwd: WORK,
    env: process.env,
    outputFile: join(WORK, 'bare-proxy/output.log'),
    ready: /bare proxy on (\d+)/,
  });
  return {
    ...running,
    version: process.version,
    address: { host: '127.0.0.1', port: Number(running.match[1]) },
    headers: {},
  };
}
