/**
 * Portkey's gateway from npm, without its console page (`--headless`). `@hono/node-server` is held at 1.13.5: with
 * 1.19, the newest that Portkey's range allows, streamed requests are answered 500.
 */
import { join } from 'node:path';
import { installNpmPeers, npmPeerVersion } from '../lib/peers.mjs';
import { WORK } from '../lib/places.mjs';
import { freePort, startProgram } from '../lib/processes.mjs';

export async function startPortkey({ upstreamPort }) {
  const modules = installNpmPeers();
  const port = await freePort();
  const running = await startProgram({
    name: 'Portkey',
    command: process.execPath,
    args: [join(modules, '@portkey-ai/gateway/build/start-server.js'), '--headless', `--port=${port}`],
    cwd: join(WORK, 'peers'),
    env: { ...process.env, NODE_ENV: 'production' },
    outputFile: join(WORK, 'portkey/output.log'),
    ready: /Ready for connections/,
  });
  return {
    ...running,
    version: npmPeerVersion('@portkey-ai/gateway'),
    address: { host: '127.0.0.1', port },
    headers: {
      authorization: 'Bearer sk-bench-provider-key',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
    },
  };
}
