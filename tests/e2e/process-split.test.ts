import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { ADMIN_KEY, defaultConfig, type HubProcess, runHubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

const AILINK_TOKEN = 'shared-token-of-two-halves-0123456789';
const admin = { headers: { 'x-admin-key': ADMIN_KEY } };

const startCompanion = (options: object = {}): Promise<HubProcess> =>
  startHub({ command: 'companion', env: { AILINK_TOKEN, AILINK_HOST: '127.0.0.1' }, ...options });

const startGateway = (companion: HubProcess, options: object = {}): Promise<HubProcess> =>
  startHub({ command: 'gateway', env: { AILINK_TOKEN, AILINK_URL: companion.ailinkUrl }, ...options });

const chat = (hub: HubProcess) =>
  send(`${hub.url}/v1/chat/completions`, {
    headers: { 'x-target': 'echo' },
    json: { messages: [{ role: 'user', content: 'hi' }] },
  });

test('a gateway and a companion started apart work as one hub [C1-ailink-url, C1-gateway-alone, C1-companion-alone]', async () => {
  const companion = await startCompanion();
  const gateway = await startGateway(companion);
  expect(gateway.pids()).toHaveLength(1);
  expect((await send(`${gateway.url}/ready`)).status).toBe(200);
  expect((await chat(gateway)).status).toBe(200);
  const runtime = (await send(`${gateway.url}/admin/runtime`, admin)).json();
  expect(runtime.companion).toMatchObject({ status: 'up', pid: companion.pid, configMismatch: false });
  expect(runtime.runtimeUsage.requests.total).toBe(1);
  expect((await gateway.stop()).code).toBe(0);
  expect((await send(`${companion.ailinkUrl}/health`)).status).toBe(200);
  expect((await companion.stop()).code).toBe(0);
});

test('npm start with AILINK_URL spawns no companion [C1-ailink-url]', async () => {
  const companion = await startCompanion();
  const hub = await startGateway(companion, { command: 'hub' });
  expect(hub.stdout()).not.toContain('ai-link listening');
  expect(hub.pids()).toEqual([hub.pid]);
});

test('a companion with another configuration is a warning and a field of companion [C1-config-hash]', async () => {
  const companion = await startCompanion({
    config: { ...defaultConfig, targets: [...defaultConfig.targets, { id: 'other', provider: 'echo' }] },
  });
  const gateway = await startGateway(companion);
  const { companion: shown } = (await send(`${gateway.url}/admin/runtime`, admin)).json();
  expect(shown).toMatchObject({ status: 'up', configMismatch: true });
  const warning = await until('the warning', () =>
    gateway.logs().find((record) => record.level === 'warn' && /another configuration/.test(record.message)),
  );
  expect(warning.module).toBe('companion-client');
});

test.each([
  ['is missing', undefined],
  ['is too short', 'x'.repeat(31)],
])(
  'a companion alone whose AILINK_TOKEN %s exits 1 and says so [C1-companion-token]',
  async (_what, token) => {
    const ended = await runHubProcess({ command: 'companion', env: { AILINK_TOKEN: token } });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/AILINK_TOKEN/);
    expect(ended.stdout).not.toMatch(/listening/);
  },
);

test('a companion alone binds AILINK_HOST, else every address [C1-companion-alone]', async () => {
  const everywhere = await startCompanion({ env: { AILINK_TOKEN } });
  expect(everywhere.ailinkUrl).toMatch(/^http:\/\/0\.0\.0\.0:/);
  const here = await startCompanion();
  expect(here.ailinkUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
});

test.each([
  ['AILINK_URL', { AILINK_TOKEN }],
  ['AILINK_TOKEN', { AILINK_URL: 'http://127.0.0.1:9' }],
])('a gateway alone without %s exits 1 and says so [C1-gateway-alone]', async (name, env) => {
  const ended = await runHubProcess({ command: 'gateway', env });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(name);
});

test('a gateway whose token the companion refuses is not ready and answers 502, never 401 [C3-companion-502]', async () => {
  const companion = await startCompanion();
  const gateway = await startGateway(companion, {
    env: { AILINK_URL: companion.ailinkUrl, AILINK_TOKEN: 'another-token-0123456789-0123456789-01' },
  });
  expect((await send(`${gateway.url}/ready`)).status).toBe(503);
  const answer = await chat(gateway);
  expect(answer.status).toBe(502);
  expect(answer.json().error.code).toBe('ailink_unavailable');
});

test('a gateway starts without its companion, says so, and works as soon as it is there [C3-companion-ready]', async () => {
  const first = await startCompanion();
  const gateway = await startGateway(first);
  const port = new URL(first.ailinkUrl).port;
  await first.stop('SIGKILL');
  expect((await send(`${gateway.url}/ready`)).status).toBe(503);
  expect((await chat(gateway)).status).toBe(502);
  expect((await send(`${gateway.url}/health`)).status).toBe(200);
  const second = await startCompanion({
    env: { AILINK_TOKEN, AILINK_HOST: '127.0.0.1', AILINK_PORT: port },
  });
  await until('it is ready', async () => (await send(`${gateway.url}/ready`)).status === 200);
  expect((await chat(gateway)).status).toBe(200);
  const { companion } = (await send(`${gateway.url}/admin/runtime`, admin)).json();
  expect(companion).toMatchObject({ pid: second.pid, restarts: 1 });
});

test('a companion alone lets its calls finish when it is told to end', async () => {
  const companion = await startCompanion();
  const gateway = await startGateway(companion);
  await chat(gateway);
  const begun = performance.now();
  expect(await companion.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - begun).toBeLessThan(3000);
  await sleep(10);
  expect((await send(`${gateway.url}/ready`)).status).toBe(503);
});
