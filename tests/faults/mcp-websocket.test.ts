import { afterEach, expect, test } from '@jest/globals';
import type { McpServerConfig } from '../../lib/config/schema/tools.ts';
import { type McpCompanion, startMcp } from '../helpers/mcp-companion.ts';
import { QUICK } from '../helpers/mcp-fixture.ts';
import {
  startWebSocketServer,
  type TestWebSocketServer,
  type WebSocketServerOptions,
} from '../helpers/mcp-websocket-server.ts';
import { until } from '../helpers/until.ts';

let servers: TestWebSocketServer[] = [];
let running: McpCompanion[] = [];

afterEach(async () => {
  await Promise.all(running.map((companion) => companion.stop()));
  await Promise.all(servers.map((server) => server.stop()));
  running = [];
  servers = [];
});

async function start(
  options: WebSocketServerOptions = {},
  more: Partial<McpServerConfig> = {},
  timing = {},
): Promise<{ server: TestWebSocketServer; mcp: McpCompanion }> {
  const server = await startWebSocketServer(options);
  servers.push(server);
  const mcp = await startMcp({
    servers: [{ name: 'test', transport: 'websocket', url: server.url, ...more }],
    timing: { ...QUICK, ...timing },
  });
  running.push(mcp);
  return { server, mcp };
}

const textOf = (result: { content: { text: string }[] }) => result.content[0]?.text;
const NO_RETRY = { backoffBaseMs: 60_000, backoffCapMs: 60_000, retryPatienceMs: 0 };

test('a handshake that nobody answers is given up after connectTimeout', async () => {
  const { mcp } = await start({ silent: true }, { connectTimeout: 250 }, NO_RETRY);
  const startedAt = performance.now();
  expect((await mcp.result('test', 'echo', { message: 'x' })).isError).toBe(true);
  expect(performance.now() - startedAt).toBeLessThan(1500);
  expect((await mcp.stats('test')).lastError.code).toBe('connect_timeout');
});

test('a server that echoes no subprotocol is connected without one', async () => {
  const { mcp, server } = await start({ subprotocol: 'ignore' });
  expect(textOf(await mcp.result('test', 'echo', { message: 'plain' }))).toBe('plain');
  expect(server.connections()).toBe(2);
});

test('a dropped connection answers its calls at once and is made anew', async () => {
  const { mcp, server } = await start();
  await mcp.result('test', 'echo', { message: 'warm' });
  const call = mcp.result('test', 'silent');
  await until('the call', async () => (await mcp.stats('test')).inFlight === 1);
  const startedAt = performance.now();
  server.drop();
  expect(textOf(await call)).toBe('The tool server closed the connection');
  expect(performance.now() - startedAt).toBeLessThan(1000);
  await until('the return', async () => (await mcp.stats('test')).status === 'connected');
  expect(textOf(await mcp.result('test', 'echo', { message: 'back' }))).toBe('back');
  expect((await mcp.stats('test')).restarts).toBe(1);
});

test('a frozen peer is noticed', async () => {
  // The socket's own pings, without those of the protocol above it.
  const { mcp, server } = await start({}, {}, { socketPingMs: 150 });
  await mcp.result('test', 'echo', { message: 'warm' });
  server.freeze();
  await until('the loss', async () => (await mcp.stats('test')).restarts >= 1);
  expect((await mcp.stats('test')).lastError.code).toBe('ping_timeout');
});

test('a message past the bound ends the connection, and the call with it', async () => {
  const { mcp } = await start();
  const large = await mcp.result('test', 'big', { bytes: 20 * 1024 * 1024 });
  expect([large.isError, textOf(large)]).toEqual([true, 'A message of the tool server was too large']);
  expect((await mcp.stats('test')).errors.protocol).toBe(1);
  expect(textOf(await mcp.result('test', 'echo', { message: 'back' }))).toBe('back');
});

test('a result past maxResultSize fails alone', async () => {
  const { mcp } = await start({}, { maxResultSize: '10kb' });
  expect((await mcp.result('test', 'big', { bytes: 20_000 })).isError).toBe(true);
  expect((await mcp.stats('test')).restarts).toBe(0);
});

test('refused credentials are an error for the operator', async () => {
  const { mcp, server } = await start({ token: 'right' });
  const other = await startMcp({
    servers: [{ name: 'test', transport: 'websocket', url: server.url.replace('right', 'wrong') }],
    timing: QUICK,
  });
  running.push(other);
  expect((await other.result('test', 'echo', { message: 'x' })).isError).toBe(true);
  expect(await other.stats('test')).toMatchObject({ status: 'error', lastError: { code: 'unauthorized' } });
  expect((await mcp.result('test', 'echo', { message: 'x' })).isError).toBe(false);
});

test('a server that is not there is told without its address', async () => {
  const { mcp, server } = await start();
  await server.stop();
  const failed = await mcp.result('test', 'echo', { message: 'x' });
  expect(textOf(failed)).toBe('test is not available: The tool server refused the connection');
});
