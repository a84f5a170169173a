import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type McpCompanion, startMcp } from '../helpers/mcp-companion.ts';
import { type EverythingHttp, everythingStdio, startEverything } from '../helpers/mcp-everything.ts';
import { startWebSocketServer, type TestWebSocketServer } from '../helpers/mcp-websocket-server.ts';

const TOKEN = 'ws-token-0123456789';
let http: EverythingHttp;
let sse: EverythingHttp;
let socket: TestWebSocketServer;
let mcp: McpCompanion;

beforeAll(async () => {
  [http, sse, socket] = await Promise.all([
    startEverything('streamableHttp'),
    startEverything('sse'),
    startWebSocketServer({ token: TOKEN }),
  ]);
  mcp = await startMcp({
    servers: [
      everythingStdio('stdio'),
      { name: 'http', transport: 'http', url: http.url },
      { name: 'sse', transport: 'http', url: sse.url },
      { name: 'websocket', transport: 'websocket', url: socket.url },
    ],
    secrets: [TOKEN],
  });
});

afterAll(async () => {
  // Whichever of them did start must end, or the test run would wait for it.
  http?.stop();
  sse?.stop();
  await socket?.stop();
  await mcp?.stop();
});

const namesOf = (tools: { server: string; name: string }[], server: string) =>
  tools.filter((tool) => tool.server === server).map(({ name }) => name);

test('all transports list the same tools of the same server [S1-mcp-transports S1-mcp-rest S2.8-transport S2.8-allowlist-stdio-only]', async () => {
  const { tools, servers } = await mcp.get('/mcp/tools');
  expect(servers.map(({ status }: { status: string }) => status)).toEqual(Array(4).fill('connected'));
  expect(namesOf(tools, 'stdio')).toContain('get-structured-content');
  expect(namesOf(tools, 'http')).toEqual(namesOf(tools, 'stdio'));
  expect(namesOf(tools, 'sse')).toEqual(namesOf(tools, 'stdio'));
  expect(namesOf(tools, 'websocket')).toEqual(['echo', 'big', 'silent', 'wait-for-cancel']);
});

describe.each(['stdio', 'http', 'sse'])('the reference server over %s', (server) => {
  test.each([
    ['echo', { message: 'Ünï 👋' }, ['text']],
    ['get-sum', { a: 2, b: 3 }, ['text']],
    ['get-tiny-image', {}, ['text', 'image', 'text']],
    ['get-annotated-message', { messageType: 'error', includeImage: true }, ['text', 'image']],
    ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }, ['text', 'resource', 'text']],
    ['get-resource-links', { count: 2 }, ['text', 'resource_link', 'resource_link']],
    ['get-structured-content', { location: 'Chicago' }, ['text']],
    ['get-env', {}, ['text']],
    [
      'gzip-file-as-resource',
      { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resource' },
      ['resource'],
    ],
    ['trigger-long-running-operation', { duration: 0.2, steps: 2 }, ['text']],
  ])('%s answers with its content [C6-invoke-content S2.8-stdio S2.8-http]', async (tool, args, kinds) => {
    const result = await mcp.result(server, tool, args);
    expect(result.isError).toBe(false);
    expect(result.content.map(({ type }: { type: string }) => type)).toEqual(kinds);
    if (tool === 'get-structured-content') {
      expect(result.structuredContent).toEqual(JSON.parse(result.content[0].text));
    }
  });
});

test('a websocket server is called, with its credentials in the query, and cancelled [S2.8-websocket S5.4-mcp-websocket C6-stats-endpoint]', async () => {
  expect(await mcp.result('websocket', 'echo', { message: 'over a socket' })).toEqual({
    content: [{ type: 'text', text: 'over a socket' }],
    isError: false,
  });
  expect((await mcp.stats('websocket')).endpoint).toMatch(
    /^ws:\/\/127\.0\.0\.1:\d+\/mcp\?token=\[REDACTED\]$/,
  );
});
