import { connect } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { clientOf, serverOf } from '../helpers/contract.ts';
import { open, send, sendRaw } from '../helpers/http.ts';
import { ADMIN_KEY } from '../helpers/hub-process.ts';
import { until } from '../helpers/until.ts';

const gateway = serverOf('gateway');
const offline = serverOf('serverless-offline');
const chat = { model: 'echo', messages: [{ role: 'user', content: 'one two three four' }] };
/** Headers that differ between any two answers, or belong to how one travelled. */
const ofTransport = new Set([
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'x-request-id',
  'x-hub-overhead-ms',
  // The emulator may compress, and says so.
  'vary',
]);
/** A body without what belongs to one process: its start, and where it listens. */
const comparable = (text: string) =>
  text.replace(/"created":\d+/g, '"created":0').replace(/,"host":"127.0.0.1"/, '');
const mcpHeaders = { accept: 'application/json, text/event-stream' };

/**
 * What a server says to a request whose body never comes.
 * @param silenceMs after so long without an answer there is none
 */
function answerWithoutBody(url: string, head: string, silenceMs = 30_000): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    const done = () => {
      socket.destroy();
      resolve(answer);
    };
    const silence = setTimeout(done, silenceMs);
    socket.on('data', (chunk) => {
      clearTimeout(silence);
      answer += chunk.toString('latin1');
      if (answer.includes('\r\n\r\n')) done();
    });
    socket.once('error', reject);
    socket.write(head);
  });
}

// The closed list of what serverless-offline and Lambda may do differently: each row is shown to be one.
describe('serverless-offline differs from the gateway in that', () => {
  test('responses are buffered [C11-buffered]', async () => {
    const json = { ...chat, stream: true };
    const flowing = await clientOf(gateway)('/v1/chat/completions', { json });
    const buffered = await clientOf(offline)('/v1/chat/completions', { json });
    expect(flowing.headers['transfer-encoding']).toBe('chunked');
    expect(buffered.headers['transfer-encoding']).toBeUndefined();
    expect(Number(buffered.headers['content-length'])).toBe(buffered.body.length);
    // The bytes are the same kind of stream all the same.
    for (const answer of [flowing, buffered]) {
      expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
      expect(answer.text.trimEnd()).toMatch(/\ndata: \[DONE\]$/);
    }
  });

  test("the platform's body limit is a 413 that names the staged way [C11-body-limit]", async () => {
    const answer = await clientOf(offline)('/mcp/invoke', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': 11_000_000 },
      body: Buffer.alloc(11_000_000, 32),
    });
    expect(answer.status).toBe(413);
    expect(answer.json().error).toMatchObject({ code: 'body_too_large', type: 'invalid_request_error' });
    expect(answer.json().error.message).toMatch(/videohost\.staging/);
    expect(answer.headers['x-request-id']).toMatch(/./);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test('there is no WebSocket [C11-no-websocket]', async () => {
    const { host } = new URL(offline.url);
    const answer = await sendRaw(
      offline.url,
      [
        'GET /proxy/anything HTTP/1.1',
        `Host: ${host}`,
        'Connection: Upgrade, close',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        '\r\n',
      ].join('\r\n'),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  test('nothing is refused before the body is read [C11-no-early-refusal]', async () => {
    const head = (url: string) =>
      [
        'POST /admin/runtime/reset HTTP/1.1',
        `Host: ${new URL(url).host}`,
        'Content-Type: application/json',
        'Content-Length: 5000000',
        '\r\n',
      ].join('\r\n');
    expect(await answerWithoutBody(gateway.url, head(gateway.url))).toMatch(/^HTTP\/1\.1 401 /);
    expect(await answerWithoutBody(offline.url, head(offline.url), 500)).toBe('');
  });

  test('a caller that left is not noticed [C11-no-abort-notice]', async () => {
    const cancelled = async (url: string) => {
      const stats = await send(`${url}/mcp/stats`);
      return stats.json().servers.find((one: { name: string }) => one.name === 'everything').errors.cancelled;
    };
    const leave = async (url: string) => {
      const stay = new AbortController();
      const call = open(`${url}/mcp/invoke`, {
        headers: { 'x-target': 'everything' },
        json: { tool: 'trigger-long-running-operation', arguments: { duration: 1, steps: 2 } },
        signal: stay.signal,
      });
      await until('the call in flight', async () => (await inFlight(url)) > 0);
      stay.abort();
      await expect(call).rejects.toThrow();
    };
    const inFlight = async (url: string): Promise<number> => {
      const stats = await send(`${url}/mcp/stats`);
      return stats.json().servers.find((one: { name: string }) => one.name === 'everything').inFlight;
    };
    await leave(gateway.url);
    await until('the cancelled call', async () => (await cancelled(gateway.url)) === 1);
    await leave(offline.url);
    await until('the end of the call', async () => (await inFlight(offline.url)) === 0);
    expect(await cancelled(offline.url)).toBe(0);
  });

  test('GET /mcp is 405 [C11-mcp-get]', async () => {
    const answer = await clientOf(offline)('/mcp', { headers: { accept: 'text/event-stream' } });
    expect(answer.status).toBe(405);
    expect(answer.json().error.code).toBe('method_not_allowed');
    expect(answer.headers.allow).toMatch(/POST/);
    const there = await open(`${gateway.url}/mcp`, { headers: { accept: 'text/event-stream' } });
    there.leave();
    expect(there.status).not.toBe(405);
  });

  test('and in nothing else: health, admin, tools and AI give the same answers [C11-nothing-else]', async () => {
    const admin = { 'x-admin-key': ADMIN_KEY };
    const requests: [string, object][] = [
      ['/health', {}],
      ['/ready', {}],
      ['/v1/models', {}],
      ['/v1/models/echo', {}],
      ['/v1/models/none', {}],
      ['/v1/chat/completions', { json: { messages: 'none' } }],
      ['/mcp/tools', {}],
      ['/mcp/tools?server=everything', {}],
      ['/mcp/tools?server=none', {}],
      ['/mcp', { json: {}, headers: mcpHeaders }],
      [
        '/mcp/invoke',
        { json: { tool: 'echo', arguments: { message: 'é' } }, headers: { 'x-target': 'everything' } },
      ],
      ['/mcp/invoke', { json: { tool: 'none' }, headers: { 'x-target': 'everything' } }],
      ['/admin/config', { headers: admin }],
      ['/admin/config/targets', { headers: admin }],
      ['/admin/config/mcp', { headers: admin }],
      ['/admin/panel', {}],
      ['/admin/runtime', { headers: { 'x-admin-key': 'x'.repeat(32) } }],
    ];
    for (const [path, options] of requests) {
      const [here, there] = await Promise.all([
        clientOf(offline)(path, options),
        clientOf(gateway)(path, options),
      ]);
      expect([path, here.status]).toEqual([path, there.status]);
      for (const name of Object.keys(there.headers).filter((one) => !ofTransport.has(one))) {
        expect([path, name, here.headers[name]]).toEqual([path, name, there.headers[name]]);
      }
      expect([path, comparable(here.text)]).toEqual([path, comparable(there.text)]);
    }
  });
});
