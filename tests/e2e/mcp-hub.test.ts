import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { open, send } from '../helpers/http.ts';
import { everythingStdio } from '../helpers/mcp-everything.ts';
import { fixture } from '../helpers/mcp-fixture.ts';
import { ADMIN_KEY, defaultConfig, type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

/** Identities by bearer token. */
const PEOPLE: Record<string, string> = { 'token-of-alice': 'alice', 'token-of-bob': 'bob' };
let identities: Server | undefined;
let hub: HubProcess;

beforeAll(async () => {
  const server = createServer((request, response) => {
    const id = PEOPLE[(request.headers.authorization ?? '').replace('Bearer ', '')];
    if (id === undefined) response.writeHead(401).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id }));
  });
  identities = server;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hub = await startHub({
    config: {
      ...defaultConfig,
      hub: { host: '127.0.0.1', cors: { origins: ['https://app.example'] } },
      mcp: { servers: [everythingStdio(), fixture([], { name: 'fixture', maxConcurrency: 2 })] },
      auth: {
        ...defaultConfig.auth,
        enabled: true,
        type: 'edapi',
        edapi_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        session: { cookie: { secret: 'a-session-secret-of-more-than-32-characters' } },
      },
    },
  });
});

afterAll(async () => {
  identities?.close();
  identities?.closeAllConnections();
  await hub?.stop();
});

const as = (name: string) => ({ authorization: `Bearer token-of-${name}` });

function invoke(server: string, tool: string, args: unknown, name = 'alice') {
  return send(`${hub.url}/mcp/invoke`, {
    method: 'POST',
    headers: { ...as(name), 'x-target': server },
    json: { tool, arguments: args },
  });
}

async function connect(name: string): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 'e2e', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp`), {
    requestInit: { headers: as(name) },
  });
  await client.connect(transport);
  return { client, transport };
}

test('tools are listed, invoked and counted through the whole hub [C6-stats-connections S4.3-tools S4.3-invoke S4.3-stats]', async () => {
  const listed = (await send(`${hub.url}/mcp/tools`, { headers: as('alice') })).json();
  expect(listed.servers.map(({ status }: { status: string }) => status)).toEqual(['connected', 'connected']);
  const answer = await invoke('everything', 'echo', { message: 'hi' });
  expect([answer.status, answer.text]).toEqual([
    200,
    '{"content":[{"type":"text","text":"Echo: hi"}],"isError":false}',
  ]);
  expect(answer.headers['x-request-id']).toBeDefined();
  const stats = (await send(`${hub.url}/mcp/stats`, { headers: as('alice') })).json();
  const runtime = await send(`${hub.url}/admin/runtime`, { headers: { 'x-admin-key': ADMIN_KEY } });
  expect(stats.servers[0].invocations).toBeGreaterThan(0);
  expect(runtime.json().mcpConnections.map((one: object) => Object.keys(one))).toEqual(
    stats.servers.map((one: object) => Object.keys(one)),
  );
});

test('all routes ask for credentials first', async () => {
  for (const [method, path] of [
    ['GET', '/mcp/tools'],
    ['GET', '/mcp/stats'],
    ['POST', '/mcp/invoke'],
    ['POST', '/mcp'],
    ['GET', '/mcp'],
    ['DELETE', '/mcp'],
    ['GET', '/mcp/unknown'],
  ] as const) {
    expect([path, (await send(hub.url + path, { method })).status]).toEqual([path, 401]);
  }
});

test('a caller who hangs up cancels the call at its server [C6-cancel]', async () => {
  const leaving = new AbortController();
  const call = send(`${hub.url}/mcp/invoke`, {
    method: 'POST',
    headers: { ...as('alice'), 'x-target': 'fixture' },
    json: { tool: 'silent' },
    signal: leaving.signal,
  });
  const server = async () => {
    const { servers } = (await send(`${hub.url}/mcp/stats`, { headers: as('alice') })).json();
    return servers.find(({ name }: { name: string }) => name === 'fixture');
  };
  await until('the call', async () => (await server()).inFlight === 1);
  leaving.abort();
  await expect(call).rejects.toThrow();
  await until('the cancellation', async () => (await server()).errors.cancelled === 1);
  expect(JSON.parse((await invoke('fixture', 'cancelled', {})).json().content[0].text)).toHaveLength(1);
});

test('a tool server may take 30 s to connect and a tool 60 s to answer, unless told otherwise [S8-connect-timeout S8-tool-timeout S2.8-connect-timeout S2.8-tool-timeout]', async () => {
  const mcp = (await send(`${hub.url}/admin/config/mcp`, { headers: { 'x-admin-key': ADMIN_KEY } })).json();
  expect(mcp.servers[0]).toMatchObject({ connectTimeout: 30_000, toolTimeout: 60_000, transport: 'stdio' });
});

describe('POST /mcp', () => {
  test("serves the SDK's own client: tools, calls, progress, and the end of the session [C6-aggregate C6-aggregate-sessions]", async () => {
    const { client, transport } = await connect('alice');
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(20);
    const seen: number[] = [];
    const result = await client.callTool(
      { name: 'everything__trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } },
      undefined,
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect([result.isError, seen]).toEqual([false, [1, 2, 3]]);
    await transport.terminateSession();
    await client.close();
  });

  test('keeps the session of one identity from another [C6-aggregate-identity C6-aggregate-companion]', async () => {
    const { client, transport } = await connect('alice');
    const ping = (name: string) =>
      send(`${hub.url}/mcp`, {
        method: 'POST',
        headers: { ...as(name), 'mcp-session-id': transport.sessionId ?? '' },
        json: { jsonrpc: '2.0', id: 1, method: 'ping' },
      });
    expect((await ping('alice')).status).toBe(200);
    const foreign = await ping('bob');
    expect([foreign.status, foreign.json().error.code]).toEqual([404, 'session_not_found']);
    await client.close();
  });

  test('refuses pages of other origins, with credentials too [C4-mcp-origin]', async () => {
    const initialize = (origin: string | undefined) =>
      send(`${hub.url}/mcp`, {
        method: 'POST',
        headers: { ...as('alice'), ...(origin !== undefined && { origin }) },
        json: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} },
      });
    const foreign = await initialize('https://evil.example');
    expect([foreign.status, foreign.json().error.code]).toEqual([403, 'cross_site']);
    for (const origin of [undefined, hub.url, 'https://app.example']) {
      expect((await initialize(origin)).status).toBe(200);
    }
  });

  test('does not hold up the end of the hub with a standing stream', async () => {
    const second = await startHub({ config: { ...defaultConfig, mcp: { servers: [fixture()] } } });
    const opened = await send(`${second.url}/mcp`, {
      method: 'POST',
      json: { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} },
    });
    const stream = await open(`${second.url}/mcp`, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': String(opened.headers['mcp-session-id']) },
    });
    expect(stream.status).toBe(200);
    stream.message.resume();
    const startedAt = performance.now();
    expect((await second.stop()).code).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});

test('invocations are records of type tools, with their caller [S6-tools-events]', async () => {
  await invoke('everything', 'echo', { message: 'a private matter' });
  const record = await until('the record', () =>
    hub.logs().find(({ message, caller }) => message === 'Tool invoked' && caller === 'alice'),
  );
  expect(record).toMatchObject({ level: 'info', module: 'mcp', server: 'everything', outcome: 'success' });
  expect(hub.stdout()).not.toContain('a private matter');
});
