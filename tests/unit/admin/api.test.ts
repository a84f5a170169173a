import { hostname } from 'node:os';
import { afterEach, describe, expect, test } from '@jest/globals';
import { adminKeyId } from '../../../lib/auth/admin-key.ts';
import { send, sendRaw } from '../../helpers/http.ts';
import { ADMIN_KEY, type AdminOptions, connection, serveAdmin } from './serve-admin.ts';

let hub: Awaited<ReturnType<typeof serveAdmin>>;

async function start(options: AdminOptions = {}): Promise<void> {
  hub = await serveAdmin(options);
}

afterEach(() => hub.close());

const WITH_KEY = { 'x-admin-key': ADMIN_KEY };
const get = (path: string, headers: Record<string, string> = WITH_KEY) => send(hub.url + path, { headers });
const post = (path: string, headers: Record<string, string> = WITH_KEY) =>
  send(hub.url + path, { method: 'POST', headers });

const DATA_PATHS = [
  '/admin/runtime',
  '/admin/runtime/usage',
  '/admin/config',
  '/admin/config/targets',
  '/admin/config/proxies',
  '/admin/config/mcp',
  '/admin/config/auth',
  '/admin/config/hub',
  '/metrics',
  '/admin/no-such-page',
];

describe('the admin key', () => {
  test.each(DATA_PATHS)(
    'is asked for at %s [S4.5-config, S7-admin-key-401, S5.3-header, C3-admin-codes]',
    async (path) => {
      await start();
      for (const headers of [
        {},
        { 'x-admin-key': '' },
        { 'x-admin-key': `${ADMIN_KEY}x` },
        { authorization: `Bearer ${ADMIN_KEY}x` },
      ]) {
        const answer = await get(path, headers as Record<string, string>);
        expect(answer.status).toBe(401);
        expect(answer.json().error).toMatchObject({
          code: 'admin_unauthorized',
          type: 'authentication_error',
        });
      }
    },
  );

  test('may be any of several [S2.3-several-keys]', async () => {
    const other = 'another-admin-key-0123456789-ghijkl';
    await start({ config: { auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY, other] } } } });
    expect((await get('/admin/runtime')).status).toBe(200);
    expect((await get('/admin/runtime', { 'x-admin-key': other })).status).toBe(200);
  });

  test('counts for nothing as a bearer but at /metrics [C8-metrics]', async () => {
    await start();
    const bearer = { authorization: `Bearer ${ADMIN_KEY}` };
    expect((await get('/metrics', bearer)).status).toBe(200);
    expect((await get('/metrics?x=1', bearer)).status).toBe(200);
    expect((await get('/admin/runtime', bearer)).status).toBe(401);
    expect((await get('/admin/runtime?x=/metrics', bearer)).status).toBe(401);
    expect((await get('/metrics', { ...bearer, 'x-admin-key': 'wrong' })).status).toBe(401);
  });

  test('is not needed for the panel, even with admin off or the address barred [C8-panel-public, S4.5-panel]', async () => {
    for (const admin of [
      { enabled: false },
      { enabled: true, apiKeys: [ADMIN_KEY], allowedNetworks: ['192.0.2.0/24'] },
    ]) {
      await start({ config: { auth: { admin } } });
      const answer = await get('/admin/panel', {});
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^text\/html/);
      await hub.close();
    }
    await start();
  });

  test('is told of in a log by its id alone, and the header is gone for whoever comes after [S5.3-header-removed]', async () => {
    await start();
    await get('/admin/runtime');
    expect(hub.records()).toContainEqual(
      expect.objectContaining({
        message: 'request',
        path: '/admin/runtime',
        caller: `admin:${adminKeyId(ADMIN_KEY)}`,
      }),
    );
    expect(hub.console()).not.toContain(ADMIN_KEY);
  });

  test('given twice is wrong', async () => {
    await start();
    const answer = await sendRaw(
      hub.url,
      `GET /admin/runtime HTTP/1.1\r\nHost: 127.0.0.1\r\nx-admin-key: ${ADMIN_KEY}\r\nx-admin-key: ${ADMIN_KEY}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 401 /);
  });
});

describe('who may not even try', () => {
  test('is told 403 before any key is looked at, when admin is off [C8-order, S7-admin-403, S2.3-enabled]', async () => {
    await start({ config: { auth: { admin: { enabled: false, apiKeys: [ADMIN_KEY] } } } });
    for (const headers of [{}, WITH_KEY, { 'x-admin-key': 'wrong' }]) {
      const answer = await get('/admin/runtime', headers as Record<string, string>);
      expect(answer.status).toBe(403);
      expect(answer.json().error).toMatchObject({ code: 'admin_forbidden', type: 'permission_error' });
    }
  });

  test('is told 403 when the address is not allowed, and comes in when it is [S2.3-networks, S5.3-networks, C8-order]', async () => {
    const admin = { enabled: true, apiKeys: [ADMIN_KEY], allowedNetworks: ['192.0.2.0/24'] };
    await start({ config: { auth: { admin }, hub: { security: { trustProxy: true } } } });
    expect((await get('/admin/runtime')).status).toBe(403);
    expect((await get('/admin/runtime', { ...WITH_KEY, 'x-forwarded-for': '192.0.2.7' })).status).toBe(200);
    expect((await get('/admin/runtime', { ...WITH_KEY, 'x-forwarded-for': '::ffff:192.0.2.7' })).status).toBe(
      200,
    );
    expect((await get('/admin/runtime', { ...WITH_KEY, 'x-forwarded-for': '192.0.3.7' })).status).toBe(403);
    expect((await get('/admin/runtime', { 'x-forwarded-for': '192.0.2.7' })).status).toBe(401);
  });

  test('is locked out by the 11th wrong key, from that address alone; a right key passes [C8-lock-out]', async () => {
    await start({
      config: {
        auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
        hub: { security: { trustProxy: true } },
      },
    });
    const from = (address: string, key?: string) =>
      get('/admin/runtime', { 'x-forwarded-for': address, ...(key !== undefined && { 'x-admin-key': key }) });
    for (let missing = 0; missing < 20; missing += 1) expect((await from('192.0.2.1')).status).toBe(401);
    for (let wrong = 0; wrong < 10; wrong += 1)
      expect((await from('192.0.2.1', `wrong ${wrong}`)).status).toBe(401);
    const locked = await from('192.0.2.1', 'wrong again');
    expect(locked.status).toBe(429);
    expect(locked.json().error.code).toBe('rate_limited');
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(locked.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await from('192.0.2.1')).status).toBe(401);
    expect((await from('192.0.2.1', ADMIN_KEY)).status).toBe(200);
    expect((await from('192.0.2.2', 'wrong')).status).toBe(401);
    for (let flood = 0; flood < 5; flood += 1) await from('192.0.2.1', 'wrong');
    const warnings = hub.records().filter((record) => record.message === 'A wrong admin key was refused');
    expect(warnings.filter((record) => record.clientIp === '192.0.2.1')).toHaveLength(11);
  });

  test('is counted here while the shared store is away [C8-lock-out]', async () => {
    await start({ config: { auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } } } });
    hub.store.count = () => Promise.reject(new Error('away'));
    for (let wrong = 0; wrong < 10; wrong += 1) {
      expect((await get('/admin/runtime', { 'x-admin-key': 'wrong' })).status).toBe(401);
    }
    expect((await get('/admin/runtime', { 'x-admin-key': 'wrong' })).status).toBe(429);
  });
});

describe('GET /admin/runtime', () => {
  test('shows process, configuration, usage, tool servers and companion [C8-runtime-shape, S2.10-process, S2.10-memory, S4.5-runtime]', async () => {
    await start({ connections: [connection()] });
    hub.counters
      .begin({ action: 'chat.completions', caller: 'a', streaming: false })
      .end({ outcome: 'success' });
    const answer = await get('/admin/runtime');
    expect(answer.headers['cache-control']).toBe('no-store');
    const body = answer.json();
    expect(Object.keys(body).sort()).toEqual(
      ['companion', 'configurationSummary', 'mcpConnections', 'process', 'runtimeUsage'].sort(),
    );
    expect(body.process).toEqual({
      pid: process.pid,
      hostname: hostname(),
      nodeVersion: process.version,
      uptimeSeconds: expect.any(Number),
      platform: process.platform,
      memoryMb: {
        rss: expect.any(Number),
        heapUsed: expect.any(Number),
        heapTotal: expect.any(Number),
        external: expect.any(Number),
      },
    });
    for (const number of [body.process.uptimeSeconds, ...Object.values(body.process.memoryMb)]) {
      expect(Number.isInteger(number)).toBe(true);
    }
    expect(body.runtimeUsage.requests.total).toBe(1);
    expect(body.mcpConnections).toEqual([connection()]);
    expect(body.companion).toMatchObject({ status: 'up' });
    expect(hub.handedOver()).toBe(1);
  });

  test('names what is configured by ids and facts that are no secrets [C8-summary-items, S2.10-summary]', async () => {
    await start({
      config: {
        auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
        targets: [{ id: 't1', provider: 'openai', apiKey: 'sk-0123456789', options: { model: 'm' } }],
        proxies: [{ id: 'p1', url: 'https://u:p@h.example/x', removeHeaders: ['x-a'], headers: { a: 'b' } }],
        tools: [{ name: 'weather', description: 'd', request: { url: 'https://w.example/?key=abcdefghi' } }],
        mcp: { servers: [{ name: 's1', command: 'node', args: ['--token', 'abcdefgh'] }] },
      },
    });
    const { configurationSummary: summary } = (await get('/admin/runtime')).json();
    for (const [name, id] of Object.entries({ targets: 't1', proxies: 'p1', tools: 'weather', mcp: 's1' })) {
      expect(summary[name]).toMatchObject({ count: 1, items: [{ id }] });
    }
    expect(summary.targets.items[0]).toMatchObject({ provider: 'openai', model: 'm' });
    expect(summary.proxies.items[0]).toMatchObject({
      url: 'https://[REDACTED]@h.example/x',
      removeHeaders: ['x-a'],
    });
    expect(summary.mcp.items[0]).toMatchObject({ transport: 'stdio', autoConnect: false });
    expect(JSON.stringify(summary)).not.toMatch(/sk-0123456789|abcdefgh/);
  });

  test('is 200 with the companion down, and says so [C3-companion-runtime]', async () => {
    await start({ companion: false });
    const answer = await get('/admin/runtime');
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({
      runtimeUsage: null,
      mcpConnections: [],
      companion: {
        status: 'down',
        pid: null,
        restarts: expect.any(Number),
        since: expect.any(String),
        nextRetryAt: null,
      },
      process: { pid: process.pid },
    });
  });
});

describe('usage, reset and metrics', () => {
  test('/admin/runtime/usage is the runtimeUsage object itself [C8-usage-bare, S4.5-usage]', async () => {
    await start();
    const usage = (await get('/admin/runtime/usage')).json();
    const { uptimeSeconds, history, ...rest } = (await get('/admin/runtime')).json().runtimeUsage;
    expect(usage).toMatchObject(rest);
    expect(Object.keys(usage)).toEqual(Object.keys(hub.counters.snapshot()));
    expect([uptimeSeconds, history.length]).toEqual([0, expect.any(Number)]);
  });

  test('a reset clears, keeps what is in flight, and is logged with who and where from [C8-reset-clears, C8-reset-record, S4.5-reset, S4.5-reset-log]', async () => {
    await start();
    hub.counters.begin({ action: 'a', caller: 'c', streaming: false }).end({ outcome: 'success' });
    hub.counters.begin({ action: 'a', caller: 'c', streaming: false });
    const answer = await post('/admin/runtime/reset');
    expect([answer.status, answer.json()]).toEqual([200, { success: true, message: expect.any(String) }]);
    expect(hub.counters.snapshot().requests).toMatchObject({ total: 0, inFlight: 1 });
    expect(hub.mcp.resets).toBe(1);
    expect(hub.records()).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        module: 'admin',
        adminKeyId: adminKeyId(ADMIN_KEY),
        clientIp: '127.0.0.1',
        requestId: answer.headers['x-request-id'],
      }),
    );
    expect(adminKeyId(ADMIN_KEY)).toMatch(/^[0-9a-f]{8}$/);
  });

  test('a reset by GET is 405, and clears nothing', async () => {
    await start();
    hub.counters.begin({ action: 'a', caller: 'c', streaming: false }).end({ outcome: 'success' });
    const answer = await get('/admin/runtime/reset');
    expect(answer.status).toBe(405);
    expect(hub.counters.snapshot().requests.total).toBe(1);
  });

  test('are 502 with the companion down, and no reset is claimed [C3-companion-usage]', async () => {
    await start({ companion: false });
    for (const answer of [
      await get('/admin/runtime/usage'),
      await post('/admin/runtime/reset'),
      await get('/metrics'),
    ]) {
      expect(answer.status).toBe(502);
      expect(answer.json().error).toMatchObject({ code: 'ailink_unavailable', type: 'upstream_error' });
    }
    expect(hub.records().filter((record) => record.module === 'admin')).toEqual([]);
  });

  test('/metrics is Prometheus text in the names of the OpenTelemetry conventions [C8-metrics, C8-metrics-names]', async () => {
    await start({ connections: [connection()] });
    hub.counters.begin({ action: 'chat.completions', caller: 'c', streaming: true }).end({
      outcome: 'success',
      provider: 'gemini',
      model: 'm"\\\n1',
      tokens: { prompt: 5, completion: 70, estimated: false },
      firstTokenMs: 50,
    });
    hub.counters
      .begin({ action: 'embeddings', caller: 'c', streaming: false })
      .end({ outcome: 'error', provider: 'azure' });
    hub.counters.addProxyCounts([{ id: 'p', requests: 2, errors: 0, statuses: { 200: 2 }, latenciesMs: [] }]);
    const answer = await get('/metrics');
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const labels =
      'gen_ai_operation_name="chat",gen_ai_provider_name="gcp.gemini",gen_ai_response_model="m\\"\\\\\\n1"';
    for (const line of [
      '# TYPE gen_ai_client_operation_duration_seconds histogram',
      `gen_ai_client_operation_duration_seconds_bucket{${labels},le="+Inf"} 1`,
      `gen_ai_client_operation_time_to_first_chunk_seconds_sum{${labels}} 0.05`,
      `gen_ai_client_token_usage_bucket{${labels},gen_ai_token_type="output",le="64"} 0`,
      `gen_ai_client_token_usage_bucket{${labels},gen_ai_token_type="output",le="256"} 1`,
      `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 5`,
      'gen_ai_client_operation_duration_seconds_count{gen_ai_operation_name="embeddings",gen_ai_provider_name="azure.ai.openai",error_type="error"} 1',
      'mcp_client_operation_duration_seconds_count{mcp_server="files",network_transport="pipe",mcp_method_name="tools/call"} 4',
      'mcp_client_operation_duration_seconds_sum{mcp_server="files",network_transport="pipe",mcp_method_name="tools/call"} 0.04',
      'hub_proxy_requests_total{proxy="p",http_response_status_code="200"} 2',
    ]) {
      expect(answer.text.split('\n')).toContain(line);
    }
    checkExposition(answer.text);
  });
});

describe('GET /admin/config', () => {
  test('is the whole effective configuration, and its sections are bare [C8-config-effective, C8-config-sections, S4.5-config-sections]', async () => {
    await start();
    const config = (await get('/admin/config')).json();
    expect(Object.keys(config).sort()).toEqual(Object.keys(hub.loaded.config).sort());
    expect(config.hub.shutdownTimeout).toBe(30_000);
    for (const name of ['targets', 'proxies', 'mcp', 'auth', 'hub']) {
      expect((await get(`/admin/config/${name}`)).json()).toEqual(config[name]);
    }
    expect(config.targets).toEqual([]);
    expect(config.auth.admin).toEqual({ enabled: true, apiKeys: '[REDACTED]', allowedNetworks: [] });
    expect(config.auth.session.cookie.secret ?? '[REDACTED]').toBe('[REDACTED]');
  });
});

/** Reads Prometheus text strictly: every sample under its own TYPE, no name or series twice, buckets ascending. */
function checkExposition(text: string): void {
  const types = new Map<string, string>();
  const series = new Set<string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const head = /^# TYPE (\S+) (counter|gauge|histogram|summary)$/.exec(line);
    if (head !== null) {
      expect(types.has(head[1] as string)).toBe(false);
      types.set(head[1] as string, head[2] as string);
      continue;
    }
    if (line.startsWith('# HELP ')) continue;
    const sample = /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (\S+)$/.exec(line);
    expect([line, sample]).toEqual([line, expect.anything()]);
    expect(Number.isFinite(Number(sample?.[3]))).toBe(true);
    const name = sample?.[1] as string;
    expect([name, types.has(name) || types.has(name.replace(/_(bucket|sum|count)$/, ''))]).toEqual([
      name,
      true,
    ]);
    const key = name + (sample?.[2] ?? '');
    expect([key, series.has(key)]).toEqual([key, false]);
    series.add(key);
  }
  expect(text.endsWith('\n')).toBe(true);
}
