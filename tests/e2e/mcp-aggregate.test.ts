import { afterEach, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  type ElicitResult,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { open, send } from '../helpers/http.ts';
import { type McpCompanion, mcpForTests } from '../helpers/mcp-companion.ts';
import { everythingStdio } from '../helpers/mcp-everything.ts';
import { fixture, QUICK } from '../helpers/mcp-fixture.ts';
import { until } from '../helpers/until.ts';

let clients: Client[] = [];

const mcp = mcpForTests(QUICK);

async function connect({ url }: McpCompanion): Promise<Client> {
  const client = new Client({ name: 'test-client', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  clients.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
});

const initialize = (protocolVersion: unknown = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

/** One raw POST, as a client without the SDK would send it. */
function post(url: string, json: unknown, headers: Record<string, string> = {}) {
  return send(`${url}/mcp`, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', ...headers },
    json,
  });
}

async function openSession(url: string, headers: Record<string, string> = {}): Promise<string> {
  return String((await post(url, initialize(), headers)).headers['mcp-session-id']);
}

describe("the SDK's own client", () => {
  test('sees the tools of all servers under one set of names, and calls them [C6-aggregate C6-aggregate-names]', async () => {
    const companion = await mcp({
      servers: [everythingStdio('every.thing'), fixture([], { name: 'other' })],
    });
    const client = await connect(companion);
    expect(client.getServerVersion()).toMatchObject({ name: 'hub' });
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toContain('every_thing__echo');
    expect(names).toContain('other__echo');
    expect(
      tools.find(({ name }) => name === 'every_thing__get-structured-content')?.outputSchema,
    ).toBeDefined();
    const image = await client.callTool({ name: 'every_thing__get-tiny-image', arguments: {} });
    expect((image.content as { type: string }[]).map(({ type }) => type)).toEqual(['text', 'image', 'text']);
    const structured = await client.callTool({
      name: 'every_thing__get-structured-content',
      arguments: { location: 'Chicago' },
    });
    expect(structured.structuredContent).toBeDefined();
    expect(await client.callTool({ name: 'other__fails', arguments: {} })).toMatchObject({ isError: true });
    expect(await client.callTool({ name: 'other__echo', arguments: { message: 1 } })).toMatchObject({
      isError: true,
    });
    await client.ping();
    await expect(client.callTool({ name: 'other__nothing' })).rejects.toThrow(/Unknown tool/);
  });

  test('gets progress under its own token [C6-aggregate-sessions]', async () => {
    const client = await connect(await mcp({ servers: [fixture()] }));
    const seen: unknown[] = [];
    const result = await client.callTool({ name: 'test__progress', arguments: {} }, undefined, {
      onprogress: (progress) => seen.push(progress),
    });
    expect(result.isError).toBe(false);
    expect(seen).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 3, message: `step ${step}` })));
  });

  test('cancels a call at its server [C6-aggregate-sessions]', async () => {
    const companion = await mcp({ servers: [fixture()] });
    const client = await connect(companion);
    await client.callTool({ name: 'test__echo', arguments: { message: 'warm' } });
    const leaving = new AbortController();
    const call = client.callTool({ name: 'test__silent', arguments: {} }, undefined, {
      signal: leaving.signal,
    });
    await until('the call', async () => (await companion.stats('test')).inFlight === 1);
    leaving.abort('changed my mind');
    await expect(call).rejects.toThrow();
    await until('the count', async () => (await companion.stats('test')).errors.cancelled === 1);
    const cancelled = await companion.result('test', 'cancelled');
    expect(JSON.parse(cancelled.content[0].text)).toHaveLength(1);
  });

  test('is told when the tools of any server change, and only then [C6-aggregate-sessions]', async () => {
    const companion = await mcp({ servers: [fixture()] });
    const client = await connect(companion);
    let told = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      told += 1;
    });
    await client.listTools();
    await until('the first listing told', () => told === 1);
    await client.callTool({ name: 'test__add-tool', arguments: { name: 'fresh' } });
    await until('the notification', () => told === 2);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('test__fresh');
    expect((await client.callTool({ name: 'test__fresh', arguments: {} })).isError).toBe(false);
  });

  test('keeps working while one server fails', async () => {
    const companion = await mcp({
      servers: [fixture(['die-at-start'], { name: 'bad' }), fixture([], { name: 'good' })],
    });
    const client = await connect(companion);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('good__echo');
    expect(names.some((name) => name.startsWith('bad'))).toBe(false);
    expect((await client.callTool({ name: 'good__echo', arguments: { message: 'x' } })).isError).toBe(false);
  });

  test('ends its session with DELETE [C6-aggregate-sessions]', async () => {
    const companion = await mcp({ servers: [] });
    const client = new Client({ name: 'test-client', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${companion.url}/mcp`));
    await client.connect(transport);
    const id = transport.sessionId ?? '';
    await transport.terminateSession();
    const answer = await post(
      companion.url,
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { 'mcp-session-id': id },
    );
    expect([answer.status, answer.json().error.code]).toEqual([404, 'session_not_found']);
    await client.close();
  });
});

describe('a client that can be asked', () => {
  const elicitation = { elicitation: {} };

  async function connectAsking(
    companion: McpCompanion,
    answer: () => Promise<ElicitResult>,
  ): Promise<Client> {
    const client = new Client({ name: 'asking', version: '1' }, { capabilities: elicitation });
    client.setRequestHandler(ElicitRequestSchema, answer);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${companion.url}/mcp`)));
    clients.push(client);
    return client;
  }
  const textOf = (result: object) => (result as { content: { text: string }[] }).content[0]?.text ?? '';

  test('is asked by the server of its call, and only such clients are', async () => {
    const companion = await mcp({ servers: [fixture()] });
    const asking = await connectAsking(companion, async () => ({
      action: 'accept',
      content: { name: 'Ada' },
    }));
    const ask = { name: 'test__elicits', arguments: { question: 'Who?' } };
    expect(JSON.parse(textOf(await asking.callTool(ask)))).toEqual({
      action: 'accept',
      content: { name: 'Ada' },
    });
    const plain = await connect(companion);
    expect(JSON.parse(textOf(await plain.callTool(ask)))).toMatchObject({ code: -32601 });

    // Servers behave by what their client can do, so each kind has a connection that says so.
    const capabilities = { name: 'test__capabilities', arguments: {} };
    expect(JSON.parse(textOf(await asking.callTool(capabilities)))).toEqual({
      elicitation: {},
      sampling: {},
    });
    expect(JSON.parse(textOf(await plain.callTool(capabilities)))).toEqual({});
    expect(JSON.parse(textOf(await companion.result('test', 'capabilities')))).toEqual({});
  });

  test('is never asked what may belong to the call of another', async () => {
    const companion = await mcp({ servers: [fixture()] });
    let questions = 0;
    const asking = await connectAsking(companion, async () => {
      questions += 1;
      return { action: 'cancel' };
    });
    const slow = asking.callTool({ name: 'test__slow', arguments: { ms: 400 } });
    await until('the slow call', async () => (await companion.stats('test')).inFlight === 1);
    const asked = await asking.callTool({ name: 'test__elicits', arguments: { question: 'Who?' } });
    expect(JSON.parse(textOf(asked))).toMatchObject({ code: -32601 });
    expect(questions).toBe(0);
    await slow;
  });

  test('who leaves in the middle of a question cancels the call', async () => {
    const companion = await mcp({ servers: [fixture()] });
    const leaving = new AbortController();
    const asking = await connectAsking(companion, () => {
      leaving.abort();
      return new Promise(() => {});
    });
    const ask = { name: 'test__elicits', arguments: { question: 'Who?' } };
    await expect(asking.callTool(ask, undefined, { signal: leaving.signal })).rejects.toThrow();
    await until('the count', async () => (await companion.stats('test')).errors.cancelled === 1);
  });
});

test('log messages of a call reach its client, from the level that it set', async () => {
  const client = await connect(await mcp({ servers: [fixture()] }));
  const seen: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    seen.push(params.data);
  });
  await client.callTool({ name: 'test__logs', arguments: {} });
  await client.setLoggingLevel('warning');
  await client.callTool({ name: 'test__logs', arguments: {} });
  expect(seen).toEqual(['a debug line', 'a error line', 'a error line']);
});

describe('sessions', () => {
  test('belong to one caller: to another they do not exist [C6-aggregate-identity]', async () => {
    const { url } = await mcp({ servers: [] });
    const id = await openSession(url, { 'x-test-caller': 'alice' });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const own = await post(url, ping, { 'mcp-session-id': id, 'x-test-caller': 'alice' });
    expect(own.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    for (const method of ['POST', 'GET', 'DELETE']) {
      const foreign = await send(`${url}/mcp`, {
        method,
        headers: { accept: 'text/event-stream', 'mcp-session-id': id, 'x-test-caller': 'bob' },
        ...(method === 'POST' && { json: ping }),
      });
      expect([foreign.status, foreign.json().error.code]).toEqual([404, 'session_not_found']);
    }
  });

  test('end when they are idle [C6-aggregate-idle]', async () => {
    const { url } = await mcp({ servers: [], timing: { ...QUICK, sessionIdleMs: 60 } });
    const id = await openSession(url);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const answer = await post(url, { jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': id });
    expect(answer.status).toBe(404);
  });

  test('are needed after initialize', async () => {
    const { url } = await mcp({ servers: [] });
    const answer = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect([answer.status, answer.json().error.param]).toEqual([400, 'mcp-session-id']);
  });

  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2024-11-05'],
    ['2099-01-01', '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('that ask for protocol version %s speak %s', async (asked, spoken) => {
    const { url } = await mcp({ servers: [] });
    const message = initialize();
    const params = { ...message.params, protocolVersion: asked };
    const answer = await post(url, { ...message, params });
    expect(answer.json().result).toEqual({
      protocolVersion: spoken,
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: 'hub', version: '0.0.0-test' },
    });
    const id = String(answer.headers['mcp-session-id']);
    expect(id).toMatch(/^[\w-]{32}$/);
    const odd = await post(
      url,
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { 'mcp-session-id': id, 'mcp-protocol-version': '1.0' },
    );
    expect([odd.status, odd.json().error.param]).toEqual([400, 'mcp-protocol-version']);
  });
});

describe('answers', () => {
  test('are JSON or an event stream, as the client reads', async () => {
    const { url } = await mcp({ servers: [] });
    const id = await openSession(url);
    const ping = { jsonrpc: '2.0', id: 'p-1', method: 'ping' };
    const json = await post(url, ping, { 'mcp-session-id': id, accept: 'application/json' });
    expect(json.headers['content-type']).toMatch(/^application\/json/);
    const events = await post(url, ping, { 'mcp-session-id': id, accept: 'text/event-stream' });
    expect(events.headers['content-type']).toBe('text/event-stream');
    expect(events.text).toBe('event: message\ndata: {"jsonrpc":"2.0","id":"p-1","result":{}}\n\n');
    const neither = await post(url, ping, { 'mcp-session-id': id, accept: 'text/html' });
    expect(neither.status).toBe(406);
  });

  test('to notifications are 202, to unknown methods an error, to no message a 400', async () => {
    const { url } = await mcp({ servers: [] });
    const session = { 'mcp-session-id': await openSession(url) };
    const notified = await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    expect([notified.status, notified.text]).toEqual([202, '']);
    const unknown = await post(url, { jsonrpc: '2.0', id: 9, method: 'resources/list' }, session);
    expect(unknown.json()).toEqual({
      jsonrpc: '2.0',
      id: 9,
      error: { code: -32601, message: 'Method not found' },
    });
    for (const nonsense of [7, {}, { jsonrpc: '2.0', id: {}, method: 'ping' }, []]) {
      expect((await post(url, nonsense, session)).status).toBe(400);
    }
  });

  test('to a batch come together', async () => {
    const { url } = await mcp({ servers: [] });
    const session = { 'mcp-session-id': await openSession(url) };
    const answer = await post(
      url,
      [
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 2, method: 'ping' },
      ],
      session,
    );
    expect(answer.json().map(({ id }: { id: number }) => id)).toEqual([1, 2]);
  });

  test('keep numbers that no double holds', async () => {
    const companion = await mcp({ servers: [fixture()] });
    const session = { 'mcp-session-id': await openSession(companion.url) };
    const call = (name: string) =>
      post(companion.url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }, session);
    expect((await call('test__kinds')).text).toContain('"id":12345678901234567890,"ratio":1.0');
  });

  test('end with the stop of the hub, standing streams too', async () => {
    const { url, gateway } = await mcp({ servers: [] });
    const id = await openSession(url);
    const stream = await open(`${url}/mcp`, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': id },
    });
    expect(stream.headers['content-type']).toBe('text/event-stream');
    gateway.announceStop?.();
    for await (const _ of stream.message);
  });
});
