import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { ADMIN_KEY, type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

const WITH_KEY = { 'x-admin-key': ADMIN_KEY };
const SECRET = 'e2e-provider-secret-0123456789';

let hub: HubProcess;

beforeAll(async () => {
  hub = await startHub({
    config: {
      targets: [
        {
          id: 'echo',
          provider: 'echo',
          options: { model: 'echo-1' },
          price: { prompt: 1_000_000, completion: 0 },
        },
        {
          id: 'other',
          provider: 'openai',
          apiKey: SECRET,
          baseUrl: 'http://127.0.0.1:9/v1',
          retry: { attempts: 0 },
        },
      ],
      auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
      mcp: {
        servers: [
          { name: 'files', command: 'node', args: ['no-such-file.js', '--token', 'e2e-tool-secret'] },
        ],
      },
    },
  });
});

const admin = (path: string, method = 'GET') => send(`${hub.url}${path}`, { method, headers: WITH_KEY });
const runtime = async () => (await admin('/admin/runtime')).json();
const chat = (body: object, target = 'echo') =>
  send(`${hub.url}/v1/chat/completions`, {
    headers: { 'x-target': target },
    json: { messages: [{ role: 'user', content: 'hello' }], ...body },
  });

describe('the admin API of a running hub', () => {
  test('shows what the hub has done since its start [C8-runtime-shape, C8-usage-shape, S2.10-connections]', async () => {
    const { usage } = (await chat({})).json();
    expect((await chat({ stream: true })).status).toBe(200);
    expect((await chat({}, 'other')).status).toBe(502);
    const body = await until('three counted calls', async () => {
      const shown = await runtime();
      return shown.runtimeUsage.requests.total === 3 && shown;
    });
    expect(body.runtimeUsage).toMatchObject({
      requests: { total: 3, success: 2, error: 1, aborted: 0, inFlight: 0, streaming: 1 },
      errorRate: 1 / 3,
      streamingRatio: 1 / 3,
      tokens: { prompt: 2 * usage.prompt_tokens },
      cost: 2 * usage.prompt_tokens,
      activeModels: expect.arrayContaining(['echo-1']),
      finishReasons: { stop: 2 },
    });
    expect(body.runtimeUsage.targets.map((row: { target: string }) => row.target).sort()).toEqual([
      'echo',
      'other',
    ]);
    expect(body.companion).toMatchObject({ status: 'up', pid: expect.any(Number), restarts: 0 });
    expect(body.process.pid).not.toBe(body.companion.pid);
    expect(body.mcpConnections).toMatchObject([{ name: 'files', transport: 'stdio' }]);
    expect(body.configurationSummary).toMatchObject({
      targets: { count: 2 },
      mcp: { count: 1 },
      proxies: { count: 0, items: [] },
    });
  });

  test('resets the counters and says who did, and keeps the uptime of the process [C8-reset-clears, C8-reset-keeps, C8-reset-record]', async () => {
    await chat({});
    await until('a counted call', async () => (await runtime()).runtimeUsage.requests.total > 0);
    const before = await runtime();
    const answer = await admin('/admin/runtime/reset', 'POST');
    expect([answer.status, answer.json()]).toEqual([200, { success: true, message: expect.any(String) }]);
    const after = await runtime();
    expect(after.runtimeUsage.requests.total).toBe(0);
    expect(Date.parse(after.runtimeUsage.since)).toBeGreaterThan(Date.parse(before.runtimeUsage.since));
    expect(after.process.uptimeSeconds).toBeGreaterThanOrEqual(before.process.uptimeSeconds);
    const record = await until('the record of the reset', () =>
      hub.logs().find((entry) => entry.level === 'warn' && entry.module === 'admin'),
    );
    expect(record).toMatchObject({
      adminKeyId: createHash('sha256').update(ADMIN_KEY).digest('hex').slice(0, 8),
      clientIp: '127.0.0.1',
    });
  });

  test('tells no secret, nor does any log line [C8-secret-cut]', async () => {
    const texts: string[] = [];
    for (const path of [
      '/admin/runtime',
      '/admin/config',
      '/admin/config/targets',
      '/admin/config/mcp',
      '/admin/config/auth',
      '/metrics',
    ]) {
      const answer = await admin(path);
      expect([path, answer.status]).toEqual([path, 200]);
      texts.push(answer.text);
    }
    for (const text of [...texts, hub.stdout(), hub.stderr()]) {
      for (const secret of [SECRET, ADMIN_KEY, 'e2e-tool-secret']) expect(text).not.toContain(secret);
    }
  });

  test('works while main authentication is off, without cookies [S1-admin-independent, S5.3-without-main]', async () => {
    const answer = await admin('/admin/runtime');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect((await send(`${hub.url}/admin/runtime`)).status).toBe(401);
  });
});

test('usage stands under the model that the provider reports, else under the one asked for [C8-usage-model]', async () => {
  const provider = createServer((request, response) => {
    const isFailing = request.headers.authorization === 'Bearer key-of-the-failing';
    response.writeHead(isFailing ? 400 : 200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: 'hi' };
    response.end(
      JSON.stringify(
        isFailing
          ? { error: { message: 'no' } }
          : { id: 'x', model: 'reported-2026', choices: [{ index: 0, message, finish_reason: 'stop' }] },
      ),
    );
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  const target = (id: string) => ({ id, provider: 'openai-compatible', apiKey: `key-of-the-${id}`, baseUrl });
  const own = await startHub({
    config: {
      targets: [target('answering'), target('failing')],
      auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
    },
  });
  try {
    for (const id of ['answering', 'failing']) {
      await send(`${own.url}/v1/chat/completions`, {
        headers: { 'x-target': id },
        json: { model: 'asked-for', messages: [{ role: 'user', content: 'hello' }] },
      });
    }
    const models = await until('both calls', async () => {
      const usage = (await send(`${own.url}/admin/runtime/usage`, { headers: WITH_KEY })).json();
      return usage.requests.total === 2 && usage.models.map((row: { model: string }) => row.model);
    });
    expect(models.sort()).toEqual(['asked-for', 'reported-2026']);
  } finally {
    provider.closeAllConnections();
    provider.close();
  }
});

test('a companion that was killed is shown as down, and as restarted with empty counters [C3-companion-runtime, S2.10-in-memory]', async () => {
  const { companion } = await runtime();
  process.kill(companion.pid, 'SIGKILL');
  const down = await until('a runtime without companion', async () => {
    const body = await runtime();
    return body.companion.status === 'down' && body;
  });
  expect(down).toMatchObject({
    runtimeUsage: null,
    mcpConnections: [],
    companion: { status: 'down', pid: null, since: expect.any(String) },
    process: { pid: expect.any(Number) },
  });
  await until('the restart', async () => (await runtime()).companion.status === 'up');
  const restarted = await runtime();
  expect(restarted.companion).toMatchObject({ status: 'up', restarts: 1 });
  expect(restarted.runtimeUsage.requests.total).toBe(0);
});

test('without a companion the runtime is 200, and usage, reset and metrics are 502 [C3-companion-runtime, C3-companion-usage]', async () => {
  const alone = await startHub({
    command: 'gateway',
    // The discard port: nobody listens there.
    env: { AILINK_URL: 'http://127.0.0.1:9', AILINK_TOKEN: 'a-token-of-thirty-two-characters-or-more' },
  });
  const ask = (path: string, method = 'GET') => send(`${alone.url}${path}`, { method, headers: WITH_KEY });
  const shown = await ask('/admin/runtime');
  expect(shown.status).toBe(200);
  expect(shown.json()).toMatchObject({
    runtimeUsage: null,
    mcpConnections: [],
    companion: { status: 'down', pid: null, restarts: 0, since: expect.any(String), nextRetryAt: null },
  });
  for (const answer of [
    await ask('/admin/runtime/usage'),
    await ask('/admin/runtime/reset', 'POST'),
    await ask('/metrics'),
  ]) {
    expect(answer.status).toBe(502);
    expect(answer.json().error.code).toBe('ailink_unavailable');
  }
  expect((await ask('/admin/config')).status).toBe(200);
  for (let wrong = 0; wrong < 10; wrong += 1) {
    expect((await send(`${alone.url}/admin/config`, { headers: { 'x-admin-key': 'wrong' } })).status).toBe(
      401,
    );
  }
  expect((await send(`${alone.url}/admin/config`, { headers: { 'x-admin-key': 'wrong' } })).status).toBe(429);
  expect((await ask('/admin/config')).status).toBe(200);
});
