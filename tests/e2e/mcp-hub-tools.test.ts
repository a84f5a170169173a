import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { HubToolConfig } from '../../lib/config/schema/tools.ts';
import { send } from '../helpers/http.ts';
import { type McpCompanion, startMcp } from '../helpers/mcp-companion.ts';
import { until } from '../helpers/until.ts';

let origin: string;
let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void;
const seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
const api = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    answer(request, response, body);
  });
});
let running: McpCompanion[] = [];

beforeAll(async () => {
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
});
afterAll(() => {
  api.closeAllConnections();
  api.close();
});
afterEach(async () => {
  await Promise.all(running.map((companion) => companion.stop()));
  running = [];
  seen.length = 0;
});

const ok = (response: ServerResponse, body = '{"ok":true}', type = 'application/json') => {
  response.writeHead(200, { 'content-type': type }).end(body);
};

const any = { type: 'object' };

async function tools(
  request: Partial<HubToolConfig['request']>,
  more: Partial<HubToolConfig> = {},
  secrets: string[] = [],
): Promise<McpCompanion> {
  answer = (_request, response) => ok(response);
  const companion = await startMcp({
    tools: [
      {
        name: 'orders.get',
        description: 'Reads an order',
        inputSchema: any,
        timeout: 5000,
        request: { method: 'GET', headers: {}, query: {}, ...request, url: `${origin}${request.url ?? '/'}` },
        ...more,
      },
    ],
    secrets,
  });
  running.push(companion);
  return companion;
}

const textOf = (result: { content: { text: string }[] }) => result.content[0]?.text ?? '';

test('a tool of the configuration is listed, called and counted as one of the server hub [C6-hub-tools C2-tools]', async () => {
  const { get, result, stats, records, url } = await tools({ url: '/orders/{id}' });
  expect(await get('/mcp/tools')).toEqual({
    tools: [{ server: 'hub', name: 'orders.get', description: 'Reads an order', inputSchema: any }],
    servers: [{ name: 'hub', status: 'connected', toolCount: 1, stale: false }],
    total: 1,
  });
  expect(await result('hub', 'orders.get', { id: 'A 7/ü' })).toEqual({
    content: [{ type: 'text', text: '{"ok":true}' }],
    isError: false,
  });
  expect(seen[0]).toMatchObject({ method: 'GET', url: '/orders/A%207%2F%C3%BC' });
  expect(await stats('hub')).toMatchObject({ transport: 'internal', status: 'connected', invocations: 1 });
  expect(records.some(({ fields }) => fields.server === 'hub' && fields.outcome === 'success')).toBe(true);

  const init = await send(`${url}/mcp`, {
    method: 'POST',
    json: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} },
  });
  const called = await send(`${url}/mcp`, {
    method: 'POST',
    headers: { 'mcp-session-id': String(init.headers['mcp-session-id']) },
    json: {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'hub__orders_get', arguments: { id: 1 } },
    },
  });
  expect(called.json().result.isError).toBe(false);
});

test.each(['..', '.', 'a/../b', '%2e%2e', '%252e%252e/x', '..%2f', '..\\x', '', 'a\nb', 'nul\0', '\ud800'])(
  'a path argument of %j cannot leave its segment [C2-tools-placeholders]',
  async (id) => {
    const { result } = await tools({ url: '/orders/{id}/items' });
    const refused = await result('hub', 'orders.get', { id });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toMatch(/^Invalid arguments for orders\.get: the argument id /);
    expect(seen).toEqual([]);
  },
);

test('two path arguments cannot make a step together', async () => {
  const { result } = await tools({ url: '/orders/{a}{b}/items' });
  // Each is a step by itself already.
  expect((await result('hub', 'orders.get', { a: '.', b: '.' })).isError).toBe(true);
  const { result: second } = await tools({ url: '/orders/.{a}/items' });
  expect((await second('hub', 'orders.get', { a: '%2e' })).isError).toBe(false);
  expect(seen.map(({ url }) => url)).toEqual(['/orders/.%252e/items']);
});

test('arguments stay in their query parameters, in the address and beside it [C2-tools-placeholders]', async () => {
  const { result } = await tools({
    url: '/search?fixed=1&q={q}#part',
    query: { tag: '{tags}', limit: '{limit}', mixed: 'a-{limit}', absent: '{nothing}' },
  });
  await result('hub', 'orders.get', { q: 'a&admin=1#x?', tags: ['x&y', 2], limit: 10 });
  const sent = new URL(seen[0]?.url ?? '', origin);
  expect([...sent.searchParams]).toEqual([
    ['fixed', '1'],
    ['q', 'a&admin=1#x?'],
    ['tag', 'x&y'],
    ['tag', '2'],
    ['limit', '10'],
    ['mixed', 'a-10'],
  ]);
});

test('a header argument cannot begin another header [C2-tools-placeholders]', async () => {
  const { result } = await tools({ headers: { 'X-User': '{user}', 'X-Label': 'user {user}' } });
  await result('hub', 'orders.get', { user: 'ada' });
  expect(seen[0]?.headers).toMatchObject({ 'x-user': 'ada', 'x-label': 'user ada' });
  for (const user of ['a\r\nX-Admin: 1', 'a\nb', 'a\0', 'ü']) {
    expect((await result('hub', 'orders.get', { user })).isError).toBe(true);
  }
  expect(seen).toHaveLength(1);
});

test('a body takes arguments as what they are, big numbers unharmed [C2-tools-placeholders]', async () => {
  const { url } = await tools({
    method: 'POST',
    body: {
      order: '{order}',
      note: 'for {name}',
      list: ['{order}', 1, null],
      gone: '{gone}',
      '{name}': 'key',
    },
  });
  await send(`${url}/mcp/invoke`, {
    method: 'POST',
    headers: { 'x-target': 'hub', 'content-type': 'application/json' },
    body: '{"tool":"orders.get","arguments":{"order":{"id":12345678901234567890,"x":1.0},"name":"a\\"},{\\"b"}}',
  });
  expect(seen[0]?.body).toBe(
    '{"order":{"id":12345678901234567890,"x":1.0},"note":"for a\\"},{\\"b",' +
      '"list":[{"id":12345678901234567890,"x":1.0},1,null],"{name}":"key"}',
  );
  expect(seen[0]?.headers['content-type']).toBe('application/json');
});

test('arguments are checked by the inputSchema, and inherited names are no arguments', async () => {
  const inputSchema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };
  const { result } = await tools({ url: '/orders/{id}' }, { inputSchema });
  expect((await result('hub', 'orders.get', { id: 'x' })).isError).toBe(true);
  const { result: second } = await tools({ url: '/orders/{constructor}' });
  expect((await second('hub', 'orders.get', {})).isError).toBe(true);
  expect(seen).toEqual([]);
});

test('an HTTP failure is an isError result with status and body, cut to 64 kB and without secrets [C6-hub-tools-error]', async () => {
  const secret = 'upstream-secret-0123456789';
  const { result } = await tools({ headers: { authorization: `Bearer ${secret}` } }, {}, [secret]);
  answer = ({ headers }, response) =>
    response.writeHead(422).end(`no such order for ${headers.authorization}`);
  expect(await result('hub', 'orders.get')).toEqual({
    content: [{ type: 'text', text: 'HTTP 422\nno such order for Bearer [REDACTED]' }],
    isError: true,
  });
  answer = (_request, response) => response.writeHead(500).end('x'.repeat(200_000));
  expect(textOf(await result('hub', 'orders.get')).length).toBe('HTTP 500\n'.length + 65_536);
  answer = (_request, response) => response.writeHead(302, { location: `${origin}/elsewhere` }).end();
  expect(textOf(await result('hub', 'orders.get'))).toBe('HTTP 302');
});

test('pictures, sounds and other bytes come as what they are', async () => {
  const { result } = await tools({});
  for (const [type, expected] of [
    ['image/png', { type: 'image', data: 'Ynl0ZXM=', mimeType: 'image/png' }],
    ['audio/wav', { type: 'audio', data: 'Ynl0ZXM=', mimeType: 'audio/wav' }],
    ['text/html', { type: 'text', text: 'bytes' }],
    [
      'application/zip',
      {
        type: 'resource',
        resource: { uri: 'hub://tool-result', mimeType: 'application/zip', blob: 'Ynl0ZXM=' },
      },
    ],
  ] as const) {
    answer = (_request, response) => ok(response, 'bytes', type);
    expect((await result('hub', 'orders.get')).content).toEqual([expected]);
  }
});

test('a slow API is given up, and left when the caller leaves', async () => {
  const { result, stats, invoke } = await tools({}, { timeout: 150 });
  let closed = 0;
  answer = (request) => {
    request.socket.once('close', () => {
      closed += 1;
    });
  };
  expect(textOf(await result('hub', 'orders.get'))).toBe('No answer within 150 ms');
  expect((await stats('hub')).errors.timeout).toBe(1);
  const leaving = new AbortController();
  const call = invoke('hub', 'orders.get', {}, { signal: leaving.signal });
  await until('the call', () => seen.length === 2);
  leaving.abort();
  await expect(call).rejects.toThrow();
  await until('both connections closed', () => closed === 2);
  expect((await stats('hub')).errors.cancelled).toBe(1);
});

test('an API that is away or at a refused address is an isError result', async () => {
  const companion = await startMcp({
    tools: ['http://127.0.0.1:1/', 'http://169.254.169.254/latest/meta-data'].map((url, index) => ({
      name: `t${index}`,
      description: 'x',
      inputSchema: any,
      timeout: 5000,
      request: { method: 'GET' as const, url, headers: {}, query: {} },
    })),
  });
  running.push(companion);
  expect(textOf(await companion.result('hub', 't0'))).toBe('The tool server refused the connection');
  expect(textOf(await companion.result('hub', 't1'))).toMatch(/link-local or a metadata service/);
});

test('an address in which an argument would choose the server is not offered', async () => {
  const { stats, get } = await startMcp({
    tools: [
      {
        name: 'bad',
        description: 'x',
        inputSchema: any,
        timeout: 5000,
        request: { method: 'GET', url: 'http://{host}/x', headers: {}, query: {} },
      },
    ],
  }).then((companion) => {
    running.push(companion);
    return companion;
  });
  expect((await get('/mcp/tools')).total).toBe(0);
  expect((await stats('hub')).invalidTools[0]).toMatchObject({ name: 'bad' });
});
