import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { McpServerConfig } from '../../lib/config/schema/tools.ts';
import { type McpCompanion, startMcp } from '../helpers/mcp-companion.ts';
import { QUICK } from '../helpers/mcp-fixture.ts';
import { json, sse, startHttpServer, type TestHttpServer, text } from '../helpers/mcp-http-server.ts';
import { until } from '../helpers/until.ts';

let server: TestHttpServer;
let running: McpCompanion[] = [];
const others: TestHttpServer[] = [];

beforeEach(async () => {
  server = await startHttpServer();
});

afterEach(async () => {
  await Promise.all(running.map((companion) => companion.stop()));
  running = [];
  await Promise.all([server, ...others.splice(0)].map((one) => one.stop()));
});

async function mcp(more: Partial<McpServerConfig> = {}, timing = {}, secrets: string[] = []) {
  const started = await startMcp({
    servers: [{ name: 'test', transport: 'http', url: server.url, ...more }],
    timing: { ...QUICK, ...timing },
    secrets,
  });
  running.push(started);
  return started;
}

const textOf = (result: { content: { text: string }[] }) => result.content[0]?.text;
const events = { 'content-type': 'text/event-stream' };
const NO_RETRY = { backoffBaseMs: 60_000, backoffCapMs: 60_000, retryPatienceMs: 0 };

describe('an answer', () => {
  test('as an event stream with pretty JSON, CR LF and comments is understood', async () => {
    server.onCall = (response, id) => {
      response.writeHead(200, events);
      const lines = JSON.stringify({ jsonrpc: '2.0', id, result: text('spread out') }, null, 2).split('\n');
      response.write(': hello\r\n\r\nid: 1\r\ndata:\r\n\r\n');
      for (const line of lines) response.write(`data: ${line}\r\n`);
      response.end('\r\n');
    };
    const { result } = await mcp();
    expect(textOf(await result('test', 'work'))).toBe('spread out');
  });

  test('whose stream is cut fails at once, not at the time-out', async () => {
    server.onCall = (response) => {
      response.writeHead(200, events);
      response.end(': working on it\n\n');
    };
    const { result, stats } = await mcp();
    const startedAt = performance.now();
    const cut = await result('test', 'work');
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect([cut.isError, textOf(cut)]).toEqual([true, 'The tool server ended its answer before the result']);
    expect(await stats('test')).toMatchObject({ status: 'connected', restarts: 0, errors: { transport: 1 } });
  });

  test('whose connection is reset fails at once', async () => {
    server.onCall = (response) => {
      response.writeHead(200, events);
      response.write(': working on it\n\n', () => response.socket?.resetAndDestroy());
    };
    const { result } = await mcp();
    expect(textOf(await result('test', 'work'))).toBe('The connection to the tool server was lost');
  });

  test('whose stream is cut after an event id is fetched where it was left', async () => {
    server.onCall = (response) => {
      response.writeHead(200, events);
      response.end('id: 41\nretry: 10\ndata:\n\n');
    };
    server.intercept = (request, response) => {
      if (request.method !== 'GET' || request.headers['last-event-id'] !== '41') return false;
      const { id } = server.calls('tools/call')[0]?.message ?? {};
      response.writeHead(200, events).end(sse({ jsonrpc: '2.0', id, result: text('resumed') }, '42'));
      return true;
    };
    const { result } = await mcp();
    expect(textOf(await result('test', 'work'))).toBe('resumed');
    expect(server.calls('tools/call')).toHaveLength(1);
  });

  test('that can never be resumed is given up', async () => {
    server.onCall = (response) => {
      response.writeHead(200, events).end('id: 41\nretry: 5\ndata:\n\n');
    };
    server.intercept = (request, response) => {
      if (request.method !== 'GET' || request.headers['last-event-id'] === undefined) return false;
      response.writeHead(200, events).end();
      return true;
    };
    const { result } = await mcp();
    expect((await result('test', 'work')).isError).toBe(true);
  });

  test.each([
    ['application/json', (size: number) => `{"result":"${'x'.repeat(size)}"}`],
    ['text/event-stream', (size: number) => `data: ${'x'.repeat(size)}\n\n`],
  ])('of 20 MB as %s fails that call alone', async (type, body) => {
    server.onCall = (response, id, { huge }) => {
      if (!huge) return json(response, id, text('small'));
      response.writeHead(200, { 'content-type': type });
      response.on('error', () => {});
      return void response.end(body(20 * 1024 * 1024));
    };
    const { result, stats } = await mcp();
    const large = await result('test', 'work', { huge: true });
    expect(textOf(large)).toMatch(/larger than \d+ bytes/);
    expect(textOf(await result('test', 'work', {}))).toBe('small');
    expect(await stats('test')).toMatchObject({ restarts: 0, errors: { protocol: 1 } });
  });

  test.each([
    ['HTML', 200, 'text/html', '<p>Login</p>', 'The tool server answered without a result (text/html)'],
    ['an empty 202', 202, '', '', 'The tool server answered without a result (no content type)'],
    [
      'broken JSON',
      200,
      'application/json',
      '{"jsonrpc"',
      'The tool server answered without a result (application/json)',
    ],
    ['a 500', 500, 'text/plain', 'stack trace at 10.0.0.1', 'The tool server answered with HTTP 500'],
    [
      'a 403',
      403,
      'application/json',
      '{"error":{"message":"no scope"}}',
      'The tool server answered with HTTP 403: no scope',
    ],
  ])('that is %s fails that call alone', async (_name, status, type, body, said) => {
    server.onCall = (response) => {
      response.writeHead(status, type === '' ? {} : { 'content-type': type }).end(body);
    };
    const { result, stats } = await mcp();
    const odd = await result('test', 'work');
    expect([odd.isError, textOf(odd)]).toEqual([true, said]);
    expect(await stats('test')).toMatchObject({ status: 'connected', restarts: 0 });
  });

  test('that is an HTTP error around a JSON-RPC error is that error', async () => {
    server.onCall = (response, id) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'which file?' } }));
    };
    const { result, stats } = await mcp();
    expect(textOf(await result('test', 'work'))).toBe('which file?');
    expect((await stats('test')).errors.tool).toBe(1);
  });
});

describe('a session', () => {
  test('that the server forgot is opened anew, and the call is run once', async () => {
    server.sessionId = 'first';
    const { result, stats } = await mcp();
    expect((await result('test', 'work', { n: 1 })).isError).toBe(false);
    expect(server.calls('tools/call')[0]?.headers['mcp-session-id']).toBe('first');
    server.sessionId = 'second';
    server.intercept = (request, response) => {
      if (request.headers['mcp-session-id'] !== 'first') return false;
      response.writeHead(404, { 'content-type': 'text/plain' }).end('whatever text');
      return true;
    };
    expect(textOf(await result('test', 'work', { n: 2 }))).toBe('{"n":2}');
    expect(await stats('test')).toMatchObject({ status: 'connected', restarts: 1 });
    const last = server.calls('tools/call').at(-1);
    expect(last?.headers['mcp-session-id']).toBe('second');
    expect(last?.headers['mcp-protocol-version']).toBe('2025-11-25');
  });

  test('that is forgotten again and again ends in backoff, not in a storm', async () => {
    server.sessionId = 'any';
    server.intercept = (_request, response, { message }) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(404).end();
      return true;
    };
    const { result } = await mcp({}, { ...NO_RETRY });
    expect((await result('test', 'work')).isError).toBe(true);
    expect(server.calls('initialize').length).toBeLessThanOrEqual(2);
    expect(server.calls('tools/call').length).toBeLessThanOrEqual(2);
  });

  test('is ended at the server with the hub', async () => {
    server.sessionId = 'polite';
    const companion = await mcp();
    await companion.result('test', 'work');
    await companion.stop();
    running = [];
    const farewell = server.received.find(({ httpMethod }) => httpMethod === 'DELETE');
    expect(farewell?.headers['mcp-session-id']).toBe('polite');
  });
});

describe('a server', () => {
  test('that is gone is noticed by a ping, and found again when it is back', async () => {
    const { result, stats } = await mcp({}, { pingEveryMs: 100, pingBudgetMs: 1_000 });
    await result('test', 'work');
    await server.stop();
    await until('the loss', async () => (await stats('test')).status === 'backoff');
    const startedAt = performance.now();
    const down = await result('test', 'work');
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(textOf(down)).toBe('test is not available: The tool server refused the connection');
    await server.listen();
    await until('the return', async () => (await stats('test')).status === 'connected');
    expect((await result('test', 'work')).isError).toBe(false);
  });

  test('that was never there is told without its address', async () => {
    await server.stop();
    const { result, stats, get } = await mcp();
    const failed = await result('test', 'work');
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
    expect((await stats('test')).lastError.code).toBe('connection_refused');
    expect((await get('/mcp/tools')).servers[0].error).toBe('The tool server refused the connection');
    await server.listen();
  });

  test('that refuses the credentials is an error for the operator, probed every so often', async () => {
    const token = 'Bearer wrong-token-0123456789';
    server.intercept = (request, response) => {
      if (request.headers.authorization === 'Bearer right') return false;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `bad ${request.headers.authorization}` } }));
      return true;
    };
    const { result, stats, records } = await mcp({ headers: { Authorization: token } }, {}, [
      'wrong-token-0123456789',
    ]);
    const failed = await result('test', 'work');
    expect(textOf(failed)).toBe(
      'test is not available: The tool server answered with HTTP 401: bad Bearer [REDACTED]',
    );
    const refused = await stats('test');
    expect(refused).toMatchObject({
      status: 'error',
      nextRetryAt: null,
      lastError: { code: 'unauthorized' },
    });
    expect(JSON.stringify([refused, records])).not.toContain('wrong-token');
    const attempts = server.calls('initialize').length;
    await Promise.all([1, 2, 3].map(() => result('test', 'work')));
    expect(server.calls('initialize').length - attempts).toBeLessThanOrEqual(1);

    server.intercept = undefined;
    await until('the probe', async () => (await result('test', 'work')).isError === false);
    expect((await stats('test')).status).toBe('connected');
  });

  test('that closes its standing event stream at once is not besieged', async () => {
    server.announces = true;
    server.intercept = (request, response) => {
      if (request.method !== 'GET') return false;
      response.writeHead(200, events).end();
      return true;
    };
    const { result } = await mcp({}, { standbyBaseMs: 100, standbyCapMs: 10_000 });
    await result('test', 'work');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const visits = server.received.filter(({ httpMethod }) => httpMethod === 'GET').length;
    expect(visits).toBeGreaterThanOrEqual(2);
    expect(visits).toBeLessThanOrEqual(4);
  });

  test('that announces no changes is listed again when a listing finds its tools old', async () => {
    const patient = await mcp({}, { relistAfterMs: 60_000 });
    await patient.get('/mcp/tools');
    await patient.get('/mcp/tools');
    expect(server.calls('tools/list')).toHaveLength(1);
    await patient.stop();
    running = [];
    server.received.length = 0;

    const { get } = await mcp({}, { relistAfterMs: 0 });
    await get('/mcp/tools');
    await get('/mcp/tools');
    await until('the second listing', () => server.calls('tools/list').length === 2);
  });

  test('that announces nothing is not asked for a standing event stream', async () => {
    const { result } = await mcp();
    await result('test', 'work');
    await result('test', 'work');
    expect(server.received.some(({ httpMethod }) => httpMethod === 'GET')).toBe(false);
  });

  test('that announces a change on its standing event stream is listed again', async () => {
    server.announces = true;
    server.intercept = (request, response) => {
      if (request.method !== 'GET') return false;
      response.writeHead(200, events);
      response.write(sse({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }));
      return true;
    };
    const { result } = await mcp();
    await result('test', 'work');
    await until('the second listing', () => server.calls('tools/list').length === 2);
  });

  test('that moved its endpoint on the same origin is followed, elsewhere never', async () => {
    server.intercept = (request, response) => {
      if (request.url === '/mcp/') return false;
      response.writeHead(307, { location: '/mcp/' }).end();
      return true;
    };
    const { result } = await mcp({ headers: { authorization: 'Bearer ours' } });
    expect((await result('test', 'work')).isError).toBe(false);

    const other = await startHttpServer();
    others.push(other);
    server.intercept = (_request, response) => {
      response.writeHead(307, { location: other.url }).end();
      return true;
    };
    const second = await mcp({ headers: { authorization: 'Bearer ours' } });
    expect((await second.result('test', 'work')).isError).toBe(true);
    expect(other.received).toEqual([]);
  });

  test('that does not answer initialize is given up after connectTimeout', async () => {
    server.intercept = () => true;
    const { result, stats } = await mcp({ connectTimeout: 200 }, NO_RETRY);
    const startedAt = performance.now();
    expect((await result('test', 'work')).isError).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(1500);
    expect((await stats('test')).lastError.code).toBe('connect_timeout');
  });

  test.each(['http://169.254.169.254/mcp', 'http://[fe80::1]/mcp', 'http://[::ffff:169.254.169.254]/mcp'])(
    'at %s is never called',
    async (url) => {
      const { result, stats } = await mcp({ url });
      expect((await result('test', 'work')).isError).toBe(true);
      expect(await stats('test')).toMatchObject({ status: 'error', lastError: { code: 'address_refused' } });
    },
  );

  test('is sent the configured headers, cancellations, and nothing of the caller [S5.4-mcp-http S2.8-http C6-cancel]', async () => {
    server.onCall = () => {};
    const { invoke, stats } = await mcp({ headers: { Authorization: 'Bearer ours', 'X-Tenant': 't1' } });
    const leaving = new AbortController();
    const call = invoke('test', 'work', {}, { signal: leaving.signal });
    await until('the call', () => server.calls('tools/call').length === 1);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await until('the cancellation', () => server.calls('notifications/cancelled').length === 1);
    const sent = server.calls('tools/call')[0];
    expect(server.calls('notifications/cancelled')[0]?.message.params.requestId).toBe(sent?.message.id);
    expect(sent?.headers).toMatchObject({
      authorization: 'Bearer ours',
      'x-tenant': 't1',
      'user-agent': 'hub',
    });
    expect(sent?.headers['x-target']).toBeUndefined();
    expect((await stats('test')).errors.cancelled).toBe(1);
  });
});
