import { describe, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { mcpForTests } from '../helpers/mcp-companion.ts';
import { fixture, QUICK } from '../helpers/mcp-fixture.ts';
import { until } from '../helpers/until.ts';

const mcp = mcpForTests(QUICK);

const textOf = (result: { content: { text: string }[] }) => result.content[0]?.text;

describe('POST /mcp/invoke', () => {
  test('runs the tool of the server that x-target names [S4.3-invoke S2.9-result S2.8-name C6-invoke-is-error]', async () => {
    const { result } = await mcp({ servers: [fixture()] });
    expect(await result('test', 'echo', { message: 'Grüße 👋' })).toEqual({
      content: [{ type: 'text', text: 'Grüße 👋' }],
      isError: false,
    });
  });

  test('takes missing arguments as none [C6-invoke-input]', async () => {
    const { result } = await mcp({ servers: [fixture()] });
    expect(textOf(await result('test', 'cancelled'))).toBe('[]');
  });

  test('passes arguments on as they were written, numbers beyond a double included', async () => {
    const { url } = await mcp({ servers: [fixture()] });
    const written =
      '{"id": 12345678901234567890, "ratio": 1.0, "esc": "\\u00e9\\"}", "nested": {"a": [1e400, {}]}}';
    const answer = await send(`${url}/mcp/invoke`, {
      method: 'POST',
      headers: { 'x-target': 'test', 'content-type': 'application/json' },
      body: `{"other": "}\\"", "argum\\u0065nts": ${written} , "tool":"raw"}`,
    });
    expect(answer.json().content[0].text).toContain(`"arguments":${written}}`);
  });

  test('passes content of every kind, structuredContent and _meta unchanged [C6-invoke-content C6-invoke-is-error]', async () => {
    const { invoke } = await mcp({ servers: [fixture()] });
    const { text } = await invoke('test', 'kinds');
    for (const part of [
      '{"type":"hologram","depth":3}',
      '"_meta":{"n":12345678901234567890}',
      '"structuredContent":{"id":12345678901234567890,"ratio":1.0}',
      '"_meta":{"vendor/x":{"deep":[1e400]}}',
      '"annotations":{"priority":0.10}',
      '{"type":"audio","data":"YXVk","mimeType":"audio/wav"}',
      '{"type":"resource_link","uri":"file:///b","name":"b"}',
    ]) {
      expect(text).toContain(part);
    }
    expect(JSON.parse(text).isError).toBe(false);
  });

  test("gives a tool's own error as an isError result [C6-invoke-tool-error S7-tool-failure]", async () => {
    const { result } = await mcp({ servers: [fixture()] });
    expect(await result('test', 'fails')).toEqual({
      content: [{ type: 'text', text: 'the tool says no' }],
      isError: true,
    });
    expect(await result('test', 'refuses')).toEqual({
      content: [{ type: 'text', text: 'bad weather' }],
      isError: true,
    });
  });

  test('refuses arguments that fail the inputSchema before the server sees them [C6-invoke-schema]', async () => {
    const { result, stats } = await mcp({ servers: [fixture()] });
    const refused = await result('test', 'echo', { message: 7 });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toBe('Invalid arguments for echo: arguments/message must be string');
    expect((await stats('test')).errors.tool).toBe(1);
  });

  test('asks for x-target, a tool and an arguments object [C6-invoke-target C6-invoke-input]', async () => {
    const { url, invoke } = await mcp({ servers: [fixture()] });
    const without = await send(`${url}/mcp/invoke`, { method: 'POST', json: { tool: 'echo' } });
    expect([without.status, without.json().error.code]).toEqual([400, 'target_required']);
    const unknown = await invoke('nobody', 'echo');
    expect([unknown.status, unknown.json().error.code]).toEqual([404, 'server_not_found']);
    for (const tool of [undefined, 7, '']) {
      const answer = await invoke('test', tool);
      expect([answer.status, answer.json().error.param]).toEqual([400, 'tool']);
    }
    for (const args of [null, [], 'x', 1]) {
      const answer = await invoke('test', 'echo', args);
      expect([answer.status, answer.json().error.param]).toEqual([400, 'arguments']);
    }
    const post = (body: string) =>
      send(`${url}/mcp/invoke`, {
        method: 'POST',
        headers: { 'x-target': 'test', 'content-type': 'application/json' },
        body,
      });
    expect((await post('{"tool":')).json().error.code).toBe('invalid_json');
    expect((await post('[]')).json().error.code).toBe('invalid_request');
    expect((await post('')).status).toBe(400);
  });

  test('answers a hidden tool and one that does not exist alike, and counts neither [C6-invoke-hidden C6-filter-both C6-filter-order S2.8-ignored-tools C6-stats-counting]', async () => {
    const { invoke, stats } = await mcp({
      servers: [fixture([], { allowedTools: ['echo', 'pid', 'gone'], ignoredTools: ['pid'] })],
    });
    const answers = await Promise.all(['slow', 'pid', 'gone', 'nowhere'].map((tool) => invoke('test', tool)));
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(answer.text).toBe(answers[0]?.text);
    }
    expect(answers[0]?.json().error.code).toBe('tool_not_found');
    expect((await stats('test')).invocations).toBe(0);
  });

  test('gives up after toolTimeout, cancels at the server, and keeps the connection [C6-invoke-timeout C6-cancel-timeout S2.8-tool-timeout C6-stats-counting]', async () => {
    const { result, stats } = await mcp({ servers: [fixture([], { toolTimeout: 150 })] });
    await result('test', 'echo', { message: 'warm' });
    const startedAt = performance.now();
    const late = await result('test', 'silent');
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(late.isError).toBe(true);
    expect(textOf(late)).toBe('No answer within 150 ms');
    expect(JSON.parse(textOf(await result('test', 'cancelled')) ?? '')).toHaveLength(1);
    const { errors, restarts, tools } = await stats('test');
    expect([errors.timeout, restarts]).toEqual([1, 0]);
    const row = tools.find(({ name }: { name: string }) => name === 'silent');
    expect([row.errors, row.timeouts]).toEqual([1, 1]);
  });

  test('cancels at the server when the caller leaves [C6-cancel]', async () => {
    const { invoke, result, stats } = await mcp({ servers: [fixture()] });
    await result('test', 'echo', { message: 'warm' });
    const leaving = new AbortController();
    const call = invoke('test', 'silent', {}, { signal: leaving.signal });
    await until('the expected state', async () => (await stats('test')).inFlight === 1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await until('the expected state', async () => (await stats('test')).errors.cancelled === 1);
    expect(JSON.parse(textOf(await result('test', 'cancelled')) ?? '')).toHaveLength(1);
  });

  test('lets calls past maxConcurrency wait, and refuses past maxQueue at once [C2-mcp-concurrency]', async () => {
    const { result, stats } = await mcp({
      servers: [fixture([], { name: 'a', maxConcurrency: 1, maxQueue: 1 }), fixture([], { name: 'b' })],
    });
    await result('a', 'echo', { message: 'warm' });
    const running = result('a', 'slow', { ms: 300 });
    await until('the expected state', async () => (await stats('a')).inFlight === 1);
    const waiting = result('a', 'echo', { message: 'second' });
    await until('the expected state', async () => (await stats('a')).queued === 1);
    const refused = await result('a', 'echo', { message: 'third' });
    expect([refused.isError, textOf(refused)]).toEqual([true, 'Too many calls wait for this tool server']);
    // Another server is not held up.
    expect(textOf(await result('b', 'echo', { message: 'free' }))).toBe('free');
    expect(textOf(await running)).toBe('slept');
    expect(textOf(await waiting)).toBe('second');
  });

  test('refuses a result past maxResultSize, and only that [C2-mcp-result-size]', async () => {
    const { result, stats } = await mcp({ servers: [fixture([], { maxResultSize: '1kb' })] });
    const large = await result('test', 'big', { bytes: 2000 });
    expect([large.isError, textOf(large)]).toEqual([true, 'The result is larger than 1024 bytes']);
    expect((await result('test', 'big', { bytes: 500 })).isError).toBe(false);
    expect((await stats('test')).errors.protocol).toBe(1);
  });

  test('writes one record of an invocation, without arguments or result [S6-tools-events]', async () => {
    const { result, records } = await mcp({ servers: [fixture()], caller: 'user-7' });
    await result('test', 'echo', { message: 'a private matter' });
    await result('test', 'fails');
    const written = records.filter(({ message }) => message === 'Tool invoked');
    expect(written.map(({ level, fields }) => [level, fields.tool, fields.outcome])).toEqual([
      ['info', 'echo', 'success'],
      ['info', 'fails', 'tool'],
    ]);
    expect(written[0]?.fields).toMatchObject({ server: 'test', caller: 'user-7', requestId: 'req-1' });
    expect(typeof written[0]?.fields.durationMs).toBe('number');
    expect(JSON.stringify(records)).not.toContain('a private matter');
    expect(JSON.stringify(records)).not.toContain('says no');
  });
});

describe('GET /mcp/tools', () => {
  test('connects all servers side by side and lists their tools [S4.3-tools C6-tools-shape C6-tools-servers C6-tools-first-connect]', async () => {
    const { get } = await mcp({
      servers: [fixture(['slow-start'], { name: 'a' }), fixture(['slow-start'], { name: 'b' })],
    });
    const startedAt = performance.now();
    const listed = await get('/mcp/tools');
    expect(performance.now() - startedAt).toBeLessThan(2500);
    expect(listed.servers).toEqual([
      { name: 'a', status: 'connected', toolCount: listed.total / 2, stale: false },
      { name: 'b', status: 'connected', toolCount: listed.total / 2, stale: false },
    ]);
    expect(listed.tools).toHaveLength(listed.total);
    expect(listed.tools[0]).toEqual({
      server: 'a',
      name: 'echo',
      inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    });
  });

  test('shows one server by ?server=, and refuses an unknown one [S4.3-tools C6-tools-unknown]', async () => {
    const { get, url } = await mcp({ servers: [fixture([], { name: 'a' }), fixture([], { name: 'b' })] });
    const listed = await get('/mcp/tools?server=b');
    expect(listed.servers.map(({ name }: { name: string }) => name)).toEqual(['b']);
    expect((await get('/mcp/stats')).servers[0].status).toBe('disconnected');
    const unknown = await send(`${url}/mcp/tools?server=c`);
    expect([unknown.status, unknown.json().error.code]).toEqual([404, 'server_not_found']);
  });

  test('hides what the filters hide; ignoredTools wins [C6-filter-both C6-filter-order S2.8-allowed-tools S2.8-ignored-tools]', async () => {
    const { get } = await mcp({
      servers: [fixture([], { allowedTools: ['echo', 'pid'], ignoredTools: ['pid'] })],
    });
    const { tools, total } = await get('/mcp/tools');
    expect([total, tools.map(({ name }: { name: string }) => name)]).toEqual([1, ['echo']]);
  });

  test('never waits for a server that is down: its last known tools are stale [C6-tools-never-waits]', async () => {
    const { get, result, stats } = await mcp({
      servers: [fixture()],
      timing: { ...QUICK, backoffBaseMs: 60_000, backoffCapMs: 60_000, retryPatienceMs: 0 },
    });
    const before = await get('/mcp/tools');
    await result('test', 'die');
    await until('the expected state', async () => (await stats('test')).status === 'backoff');
    const after = await get('/mcp/tools');
    expect(after.tools).toEqual(before.tools);
    expect(after.servers[0]).toMatchObject({ status: 'backoff', stale: true, toolCount: before.total });
    expect(after.servers[0].error).toBe("The tool server's process ended by SIGKILL");
  });

  test('waits for a first attempt that still runs, and never again after it has failed [C6-tools-first-wait S2.8-connect-timeout]', async () => {
    const { get } = await mcp({
      servers: [fixture(['silent'], { connectTimeout: 300 })],
      timing: { ...QUICK, backoffBaseMs: 1, backoffCapMs: 1 },
    });
    const first = await get('/mcp/tools');
    expect(first.servers[0]).toMatchObject({
      toolCount: 0,
      stale: true,
      error: 'No connection within 300 ms',
    });
    const startedAt = performance.now();
    await get('/mcp/tools');
    expect(performance.now() - startedAt).toBeLessThan(150);
  });

  test('shows tools that the server adds later', async () => {
    const { get, result } = await mcp({ servers: [fixture()] });
    await result('test', 'add-tool', { name: 'fresh' });
    await until('the expected state', async () =>
      (await get('/mcp/tools')).tools.some(({ name }: { name: string }) => name === 'fresh'),
    );
    expect(textOf(await result('test', 'fresh'))).toBe('called fresh');
  });
});

describe('GET /mcp/stats', () => {
  test('has every field of a server, null where there is no value [C6-stats-shape C6-stats-summary C6-stats-server C6-stats-null]', async () => {
    const { get } = await mcp({ servers: [fixture([], { name: 'idle' })] });
    expect(await get('/mcp/stats')).toEqual({
      summary: {
        total: 1,
        connected: 0,
        connecting: 0,
        backoff: 0,
        error: 0,
        toolsTotal: 0,
        invocations: 0,
        errors: 0,
      },
      servers: [
        {
          name: 'idle',
          transport: 'stdio',
          autoConnect: false,
          status: 'disconnected',
          healthy: false,
          serverInfo: null,
          protocolVersion: null,
          endpoint: expect.stringMatching(/^node .*mcp-stdio-fixture\.mjs$/),
          connectedAt: null,
          uptimeSeconds: null,
          lastPingMs: null,
          lastError: null,
          restarts: 0,
          consecutiveFailures: 0,
          crashLoop: false,
          nextRetryAt: null,
          inFlight: 0,
          queued: 0,
          invocations: 0,
          errors: { tool: 0, timeout: 0, transport: 0, protocol: 0, cancelled: 0 },
          latencyMs: { avg: null, min: null, max: null, p50: null, p95: null, p99: null },
          tools: [],
          invalidTools: [],
          stderrTail: [],
        },
      ],
    });
  });

  test('counts invocations and errors by class, and a reset clears them [C6-stats-errors C6-stats-counting C6-stats-exit S4.3-stats]', async () => {
    const { result, stats, get, gateway } = await mcp({ servers: [fixture()] });
    await result('test', 'echo', { message: 'a' });
    await result('test', 'echo', {});
    await result('test', 'fails');
    await result('test', 'refuses');
    await result('test', 'bad-result');
    await result('test', 'die');
    const counted = await stats('test');
    expect(counted.invocations).toBe(6);
    expect(counted.errors).toEqual({ tool: 3, timeout: 0, transport: 1, protocol: 1, cancelled: 0 });
    const echo = counted.tools.find(({ name }: { name: string }) => name === 'echo');
    expect(echo).toMatchObject({ invocations: 2, errors: 1, timeouts: 0 });
    expect(new Date(echo.lastInvokedAt).toISOString()).toBe(echo.lastInvokedAt);
    expect(counted.latencyMs.p99).toBeGreaterThanOrEqual(counted.latencyMs.p50);
    expect((await get('/mcp/stats')).summary).toMatchObject({ invocations: 6, errors: 5 });
    expect(gateway.stats()[0]?.invocations).toBe(6);

    await result('test', 'echo', { message: 'back' });
    gateway.reset();
    const cleared = await stats('test');
    expect([cleared.invocations, cleared.errors.tool, cleared.latencyMs.avg]).toEqual([0, 0, null]);
    expect(cleared).toMatchObject({
      status: 'connected',
      restarts: 1,
      exit: { code: null, signal: 'SIGKILL' },
    });
  });

  test('shows a connected server with its process, and connects by itself with autoConnect [S2.8-auto-connect C6-stats-server C6-stats-null]', async () => {
    const { stats } = await mcp({ servers: [fixture([], { autoConnect: true })] });
    await until('the expected state', async () => (await stats('test')).status === 'connected');
    const connected = await stats('test');
    expect(connected).toMatchObject({
      autoConnect: true,
      healthy: true,
      serverInfo: { name: 'fixture', version: '1' },
      protocolVersion: '2025-11-25',
    });
    expect(connected.pid).toBeGreaterThan(1);
    expect(new Date(connected.connectedAt).toISOString()).toBe(connected.connectedAt);
  });

  test('pings a quiet server', async () => {
    const { stats, result } = await mcp({
      servers: [fixture()],
      timing: { ...QUICK, pingEveryMs: 100, pingBudgetMs: 5_000 },
    });
    await result('test', 'echo', { message: 'x' });
    await until('the expected state', async () => (await stats('test')).lastPingMs !== null);
    expect((await stats('test')).status).toBe('connected');
  });

  test('cuts configured secrets out of errors and stderr, and out of the endpoint [C6-stats-endpoint]', async () => {
    const secret = 'sk-secret-0123456789';
    const { result, stats, records } = await mcp({
      servers: [fixture(['--api-key', secret, `--token=${secret}`, `plain-${secret}`])],
      secrets: [secret],
    });
    expect(textOf(await result('test', 'leaks', { secret }))).toBe('cannot log in with [REDACTED]');
    await result('test', 'say-on-stderr', { line: `using ${secret}` });
    await until('the expected state', async () => (await stats('test')).stderrTail.length > 0);
    const shown = await stats('test');
    expect(shown.stderrTail).toEqual(['using [REDACTED]']);
    expect(shown.endpoint).toMatch(/ --api-key \[REDACTED\] --token=\[REDACTED\] plain-\[REDACTED\]$/);
    expect(JSON.stringify([shown, records])).not.toContain(secret);
  });
});
