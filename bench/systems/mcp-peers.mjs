/** The npm gateways that put a stdio tool server behind streamable HTTP, as their own pages say to start them. */
import { join } from 'node:path';
import { openMcpSession } from '../lib/mcp-session.mjs';
import { installNpmPeers, npmPeerVersion } from '../lib/peers.mjs';
import { WORK } from '../lib/places.mjs';
import { freePort, startProgram } from '../lib/processes.mjs';

async function startPeer(name, program, argsFor, toolServer) {
  const modules = installNpmPeers();
  const port = await freePort();
  const running = await startProgram({
    name,
    command: process.execPath,
    args: [join(modules, program), ...argsFor(port, toolServer)],
    cwd: join(WORK, 'peers'),
    env: { ...process.env, NODE_ENV: 'production' },
    outputFile: join(WORK, name, 'output.log'),
    ready: /listening|starting server|ready/i,
  });
  const address = { host: '127.0.0.1', port };
  return {
    ...running,
    version: npmPeerVersion(name),
    address,
    path: '/mcp',
    headers: await openMcpSession(address),
  };
}

export const startMcpProxy = (toolServer) =>
  startPeer(
    'mcp-proxy',
    'mcp-proxy/dist/bin/mcp-proxy.mjs',
    (port, server) => ['--port', port, '--host', '127.0.0.1', '--server', 'stream', '--', 'node', ...server],
    toolServer,
  );

/** Stateful: without sessions it starts a process for each request. */
export const startSupergateway = (toolServer) =>
  startPeer(
    'supergateway',
    'supergateway/dist/index.js',
    (port, server) => [
      '--stdio',
      ['node', ...server].join(' '),
      '--outputTransport',
      'streamableHttp',
      '--stateful',
      '--port',
      port,
    ],
    toolServer,
  );
