import { expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { fixture, isRunning } from '../helpers/mcp-fixture.ts';
import { ADMIN_KEY, defaultConfig, type HubProcess, startHub } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';
import { until } from '../helpers/until.ts';

const runFolder = temporaryFolder();

const config = {
  ...defaultConfig,
  mcp: { servers: [fixture(['stubborn', 'grandchild'], { autoConnect: true })] },
};
const start = () => startHub({ config, env: { TMPDIR: runFolder } });

/** The tool server's own process and the one below it. */
async function serverProcesses(hub: HubProcess): Promise<[number, number]> {
  const server = await until('the tool server', async () => {
    const [found] = (await send(`${hub.url}/mcp/stats`)).json().servers;
    return found.status === 'connected' && found.stderrTail.length > 0 ? found : undefined;
  });
  return [server.pid, Number(/grandchild (\d+)/.exec(server.stderrTail.join('\n'))?.[1])];
}

test('a stop of the hub leaves no process of a stubborn tool server', async () => {
  const hub = await start();
  const pids = await serverProcesses(hub);
  expect(pids.map(isRunning)).toEqual([true, true]);
  await hub.stop();
  await until('all processes gone', () => !pids.some(isRunning), { timeoutMs: 2000 });
});

test('a killed hub leaves processes, and its next start ends them within two seconds', async () => {
  const hub = await start();
  const pids = await serverProcesses(hub);
  const runtime = await send(`${hub.url}/admin/runtime`, { headers: { 'x-admin-key': ADMIN_KEY } });
  for (const pid of [runtime.json().companion.pid, hub.pid]) process.kill(pid, 'SIGKILL');
  await hub.exited;
  expect(pids.map(isRunning)).toEqual([true, true]);

  const next = await start();
  await until('the leftovers gone', () => !pids.some(isRunning), { timeoutMs: 2000 });
  const own = await serverProcesses(next);
  expect(own.map(isRunning)).toEqual([true, true]);

  // A second hub beside it leaves its processes alone.
  const beside = await start();
  await serverProcesses(beside);
  expect(own.map(isRunning)).toEqual([true, true]);
  await Promise.all([next.stop(), beside.stop()]);
});
