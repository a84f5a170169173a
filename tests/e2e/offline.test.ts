import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { everythingStdio } from '../helpers/mcp-everything.ts';
import { type HubProcess, isAlive, runHubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

let offline: HubProcess | undefined;
afterEach(async () => {
  await offline?.stop('SIGKILL');
  offline = undefined;
});

test('SIGTERM ends emulator, companion and tool servers without waiting for calls, with exit 0 [C11-no-drain, C1-start-signal]', async () => {
  offline = await startHub({ command: 'offline', config: { mcp: { servers: [everythingStdio()] } } });
  const { url } = offline;
  const call = send(`${url}/mcp/invoke`, {
    headers: { 'x-target': 'everything' },
    json: { tool: 'trigger-long-running-operation', arguments: { duration: 60, steps: 60 } },
    timeoutMs: 60_000,
  }).catch(() => undefined);
  await until('the call in flight', async () => {
    const stats = await send(`${url}/mcp/stats`);
    return stats.json().servers[0].inFlight === 1;
  });
  const pids = offline.pids();
  expect(pids.length).toBeGreaterThanOrEqual(4);
  offline.kill('SIGTERM');
  const exit = await offline.exited;
  expect(exit).toEqual({ code: 0, signal: null });
  await until('everybody gone', () => pids.every((pid) => !isAlive(pid)));
  await call;
});

test('a faulty configuration ends it before anything listens [C2-exit]', async () => {
  const run = await runHubProcess({ command: 'offline', config: 'hub:\n  port: x\n' });
  expect(run.code).toBe(1);
  expect(run.stderr).toContain('Configuration validation failed: hub.port must be a number (config.yaml:2)');
  expect(run.stdout).not.toContain('listening');
});

test('a port in use is one clear line and exit 1 [C1-port-in-use]', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    const run = await runHubProcess({ command: 'offline', env: { HUB_PORT: String(port) } });
    expect(run.code).toBe(1);
    expect(run.stderr.trim().split('\n')).toEqual([expect.stringContaining(`127.0.0.1:${port} is in use`)]);
  } finally {
    taken.close();
  }
});

test('when the companion dies it is started again where the handlers know it', async () => {
  offline = await startHub({ command: 'offline' });
  const { url, ailinkUrl } = offline;
  expect((await send(`${url}/ready`)).status).toBe(200);
  const companion = (await send(`${ailinkUrl}/health`)).json().pid as number;
  process.kill(companion, 'SIGKILL');
  await until('not ready', async () => (await send(`${url}/ready`)).status === 503);
  await until('ready again', async () => (await send(`${url}/ready`)).status === 200);
  expect((await send(`${ailinkUrl}/health`)).json().pid).not.toBe(companion);
});
