import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type HeldServer, startHeldServer } from '../helpers/held-server.ts';
import { type Answer, open, send } from '../helpers/http.ts';
import { everythingStdio } from '../helpers/mcp-everything.ts';
import { defaultConfig, type HubProcess, isAlive, root, startHub } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';
import { until } from '../helpers/until.ts';

/** A hub with one tool that answers when `held` lets it, and a tool server that runs as a process. */
async function startHubWithSlowTool(hub: object = {}): Promise<{ hub: HubProcess; held: HeldServer }> {
  const held = await startHeldServer();
  const config = {
    ...defaultConfig,
    hub,
    tools: [{ name: 'slow', description: 'Waits', request: { url: held.url } }],
    mcp: {
      servers: [{ ...everythingStdio(), autoConnect: true }],
    },
  };
  const started = await startHub({ config });
  await until('the tool server runs', () => started.pids().length === 3, { timeoutMs: 15_000 });
  return { hub: started, held };
}

function callSlowTool(hub: HubProcess): Promise<Answer> {
  return send(`${hub.url}/mcp/invoke`, { headers: { 'x-target': 'hub' }, json: { tool: 'slow' } });
}

/** Asks over an agent's own connection, as a load balancer that keeps it open does. */
function ask(agent: Agent, url: string): Promise<{ status: number; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    httpRequest(url, { agent }, (message) => {
      message.resume();
      message.once('end', () =>
        resolve({ status: message.statusCode ?? 0, connection: message.headers.connection }),
      );
    })
      .once('error', reject)
      .end();
  });
}

async function accepts(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s: no new connections, 503 from /ready on open ones, requests in flight finish, nothing is left, exit 0 [C1-drain-ready, C1-drain-listeners, C1-drain-finish, C1-drain-exit]',
  async (signal) => {
    const { hub, held } = await startHubWithSlowTool();
    const family = hub.pids();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await ask(agent, `${hub.url}/ready`)).status).toBe(200);
    const call = callSlowTool(hub);
    await until('the call is in flight', () => held.held() === 1);

    hub.kill(signal);
    await until('the port is closed', async () => !(await accepts(hub.url)));
    expect(await ask(agent, `${hub.url}/ready`)).toEqual({ status: 503, connection: 'close' });
    expect(family.every(isAlive)).toBe(true);

    held.release();
    expect((await call).json()).toMatchObject({ isError: false });
    expect(await hub.exited).toEqual({ code: 0, signal: null });
    expect(family.filter(isAlive)).toEqual([]);
    agent.destroy();
  },
);

test('a signal to the whole process group, as Ctrl-C sends it, lets requests in flight finish [C1-drain-finish]', async () => {
  const { hub, held } = await startHubWithSlowTool();
  const call = callSlowTool(hub);
  await until('the call is in flight', () => held.held() === 1);
  process.kill(-hub.pid, 'SIGINT');
  await until('the port is closed', async () => !(await accepts(hub.url)));
  // Longer than a companion waits for its gateway to speak.
  await new Promise((resolve) => setTimeout(resolve, 500));
  held.release();
  expect((await call).json()).toMatchObject({ isError: false });
  expect(await hub.exited).toEqual({ code: 0, signal: null });
});

test('requests that outlast hub.shutdownTimeout are cut, and the exit code is still 0 [C1-drain-finish]', async () => {
  const { hub, held } = await startHubWithSlowTool({ shutdownTimeout: 300 });
  const family = hub.pids();
  const call = callSlowTool(hub);
  await until('the call is in flight', () => held.held() === 1);
  const failed = expect(call).rejects.toThrow();
  hub.kill('SIGTERM');
  await failed;
  expect(await hub.exited).toEqual({ code: 0, signal: null });
  expect(family.filter(isAlive)).toEqual([]);
});

test('a second signal ends the hub at once, tool servers included [C1-drain-second-signal]', async () => {
  const { hub, held } = await startHubWithSlowTool();
  const family = hub.pids();
  const call = callSlowTool(hub);
  await until('the call is in flight', () => held.held() === 1);
  const failed = expect(call).rejects.toThrow();
  hub.kill('SIGTERM');
  await until('the port is closed', async () => !(await accepts(hub.url)));
  hub.kill('SIGTERM');
  await failed;
  expect((await hub.exited).code).toBe(1);
  await until('no process is left', () => !family.some(isAlive), { timeoutMs: 2000 });
});

test('a standing event stream of an MCP client does not hold up the end [C1-drain-exit]', async () => {
  const hub = await startHub();
  const accept = 'application/json, text/event-stream';
  const hello = await send(`${hub.url}/mcp`, {
    headers: { accept },
    json: {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
    },
  });
  const session = String(hello.headers['mcp-session-id']);
  const stream = await open(`${hub.url}/mcp`, { headers: { accept, 'mcp-session-id': session } });
  expect(stream.status).toBe(200);
  stream.message.resume();
  const ended = once(stream.message, 'end');
  const begun = performance.now();
  expect((await hub.stop('SIGTERM')).code).toBe(0);
  expect(performance.now() - begun).toBeLessThan(5000);
  await ended;
});

test('a hub without requests in flight does not wait for idle connections [C1-drain-exit]', async () => {
  const hub = await startHub();
  const agent = new Agent({ keepAlive: true });
  await ask(agent, `${hub.url}/health`);
  const begun = performance.now();
  expect((await hub.stop('SIGTERM')).code).toBe(0);
  expect(performance.now() - begun).toBeLessThan(3000);
  agent.destroy();
});

test('a signal to npm reaches the hub [C1-start-signal]', async () => {
  const npm = spawn('npm', ['start'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: temporaryFolder(),
      HUB_PORT: '0',
      AILINK_PORT: '0',
      HUB_CONFIG: join(root, 'tests/helpers/small-config.yaml'),
    },
  });
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const url = await until('the hub listens', () => /hub listening on (\S+)/.exec(output)?.[1], {
    timeoutMs: 20_000,
  });
  expect((await send(`${url}/health`)).status).toBe(200);
  npm.kill('SIGTERM');
  await once(npm, 'exit');
  await until('the hub has ended', async () => !(await accepts(url)));
});
