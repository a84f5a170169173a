import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { clientOf, servers } from '../helpers/contract.ts';
import { ADMIN_KEY } from '../helpers/hub-process.ts';
import { until } from '../helpers/until.ts';

const admin = { 'x-admin-key': ADMIN_KEY };

describe.each(servers)('$name', (server) => {
  const ask = clientOf(server);
  const get = (path: string) => ask(path, { headers: admin });

  test('without a key, or with a wrong one, every admin path is 401 admin_unauthorized [S7-admin-key-401, C3-admin-codes, S5.3-header, S5.3-without-main]', async () => {
    for (const path of [
      '/admin/runtime',
      '/admin/runtime/usage',
      '/admin/config',
      '/admin/config/auth',
      '/metrics',
    ]) {
      const answer = await ask(path);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.json().error).toMatchObject({
        code: 'admin_unauthorized',
        type: 'authentication_error',
      });
    }
    const wrong = await ask('/admin/runtime', { headers: { 'x-admin-key': `${ADMIN_KEY}x` } });
    expect(wrong.status).toBe(401);
  });

  test('the panel page is public and carries no data [S4.5-panel, C8-panel-public, S5.2-public]', async () => {
    const page = await ask('/admin/panel');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.text).not.toContain(ADMIN_KEY);
    expect(page.text).not.toContain('sk-upstream');
  });

  test('the runtime payload has its parts [S4.5-runtime, S2.10-process, S2.10-memory, S2.10-summary, S2.10-usage, S2.10-connections, C8-runtime-shape, C8-summary-items]', async () => {
    const answer = await get('/admin/runtime');
    expect(answer.status).toBe(200);
    const body = answer.json();
    expect(Object.keys(body).sort()).toEqual([
      'companion',
      'configurationSummary',
      'mcpConnections',
      'process',
      'runtimeUsage',
    ]);
    expect(body.process).toEqual({
      pid: expect.any(Number),
      hostname: expect.any(String),
      nodeVersion: process.version,
      uptimeSeconds: expect.any(Number),
      platform: 'linux',
      memoryMb: {
        rss: expect.any(Number),
        heapUsed: expect.any(Number),
        heapTotal: expect.any(Number),
        external: expect.any(Number),
      },
    });
    expect(Object.values(body.process.memoryMb).every(Number.isInteger)).toBe(true);
    expect(Number.isInteger(body.process.uptimeSeconds)).toBe(true);
    for (const part of ['targets', 'proxies', 'tools', 'mcp']) {
      const { count, items } = body.configurationSummary[part];
      expect([part, count]).toEqual([part, items.length]);
    }
    expect(body.configurationSummary.targets.count).toBe(2);
    expect(body.companion).toMatchObject({ status: 'up', pid: expect.any(Number) });
    expect(body.mcpConnections.map((one: { name: string }) => one.name)).toContain('everything');
    expect(answer.text).not.toContain('sk-upstream');
  });

  test('usage alone is the runtimeUsage object itself [S4.5-usage, C8-usage-bare]', async () => {
    const usage = (await get('/admin/runtime/usage')).json();
    const { runtimeUsage } = (await get('/admin/runtime')).json();
    expect(Object.keys(usage)).toEqual(Object.keys(runtimeUsage));
  });

  test('a chat is counted, and a reset clears it [S4.5-reset, C8-reset-clears, C8-reset-keeps]', async () => {
    // Other files call the same server meanwhile, though none resets: a model of its own is this test's to count.
    const model = `counted-${randomUUID()}`;
    const counted = async () => {
      const { models } = (await get('/admin/runtime/usage')).json();
      return models.find((one: { model: string }) => one.model === model)?.requests;
    };
    expect(await counted()).toBeUndefined();
    const headers = { 'x-target': 'echo' };
    await ask('/v1/chat/completions', { json: { model, messages: [] }, headers });
    await until('the count', async () => (await counted()) === 1);
    const { uptimeSeconds, pid } = (await get('/admin/runtime')).json().process;
    const reset = await ask('/admin/runtime/reset', { method: 'POST', headers: admin });
    expect(reset.status).toBe(200);
    expect(reset.json()).toEqual({ success: true, message: expect.any(String) });
    expect(await counted()).toBeUndefined();
    const after = (await get('/admin/runtime')).json().process;
    expect(after.pid).toBe(pid);
    expect(after.uptimeSeconds).toBeGreaterThanOrEqual(uptimeSeconds);
  });

  test('the configuration is shown redacted, whole and by section [S4.5-config, S4.5-config-sections, S5.5-redaction, C8-config-effective, C8-config-sections, C8-redact-names, C8-redact-numbers]', async () => {
    const whole = await get('/admin/config');
    expect(whole.status).toBe(200);
    expect(whole.text).not.toContain(ADMIN_KEY);
    expect(whole.text).not.toContain('sk-upstream');
    const config = whole.json();
    expect(config.targets[1]).toMatchObject({ id: 'nobody', apiKey: '[REDACTED]' });
    expect(config.auth.admin.apiKeys).toBe('[REDACTED]');
    expect(config.hub.http_client).toEqual({ timeout: 120_000, maxRedirects: 5 });
    for (const section of ['targets', 'proxies', 'mcp', 'auth', 'hub']) {
      const shown = (await get(`/admin/config/${section}`)).json();
      expect([section, shown]).toEqual([section, config[section]]);
    }
    expect((await get('/admin/config/proxies')).json()).toEqual([]);
  });

  test('metrics are Prometheus text, by key or by bearer [C8-metrics]', async () => {
    for (const headers of [admin, { authorization: `Bearer ${ADMIN_KEY}` }]) {
      const answer = await ask('/metrics', { headers });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(answer.text).toMatch(/^# (HELP|TYPE) /m);
    }
    const elsewhere = await ask('/admin/runtime', { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    expect(elsewhere.status).toBe(401);
  });
});
