import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createCompanionServer } from '../../../companion/server.ts';
import type { CompanionClient } from '../../../lib/companion-client/companion-client.ts';
import { createCompanionClient } from '../../../lib/companion-client/create-client.ts';
import type {
  InternalRequest,
  InternalResponse,
  InternalRoute,
} from '../../../lib/companion-client/internal-route.ts';
import type { CompanionStatus } from '../../../lib/companion-client/protocol.ts';
import { HubError } from '../../../lib/errors/hub-error.ts';
import { readBody } from '../../../lib/http/body.ts';
import type { RequestContext } from '../../../lib/http/request-context.ts';
import type { Logger } from '../../../lib/logging/logger.ts';
import { open, send } from '../../helpers/http.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';
import { until } from '../../helpers/until.ts';

const TOKEN = 'a-token-of-this-test-0123456789abcdef';
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, enabled: () => false };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

type Handle = (request: InternalRequest, response: InternalResponse) => void | Promise<void>;

const bodyOf = (request: InternalRequest) => readBody(request, { limit: 10_000_000 });
const heard = (response: InternalResponse, event: 'drain' | 'close') =>
  new Promise<void>((resolve) => response.once(event, resolve));

interface Bench {
  /** Address of a gateway whose every request is relayed. */
  url: string;
  companion: Server;
  /** Ends every connection to the companion, as its death does. */
  cut(): void;
  client: CompanionClient;
  /** What the relay of each request ended with. */
  failures: HubError[];
  /** What the relays had the access records say. */
  log: Record<string, unknown>;
  settled(): number;
  companionInFlight(): number;
}

/** How the calls travel: over the private channel of a spawned companion, or by HTTP to one elsewhere. */
let transport: 'channel' | 'http' = 'channel';

/** A real companion server, the real client, and a plain HTTP server in front of it. */
async function startBench(
  handle: Handle,
  options: { clientToken?: string; status?: () => CompanionStatus } = {},
): Promise<Bench> {
  const directory = temporaryFolder();
  const sockets = { http: join(directory, 'http.sock'), calls: join(directory, 'calls.sock') };
  const routes: InternalRoute[] = ['GET', 'POST'].map((method) => ({
    method: method as 'GET' | 'POST',
    path: '/v1/*',
    handle,
  }));
  const { servers, channel, inFlight } = createCompanionServer({
    token: TOKEN,
    routes,
    health: { status: 'ok', pid: process.pid, configHash: 'x' },
    logger: silent,
  });
  const cut = () => {
    for (const connections of [servers.socket, servers.port, channel]) connections.closeAllConnections();
  };
  servers.socket.listen(sockets.http);
  servers.port.listen(0, '127.0.0.1');
  channel.server.listen(sockets.calls);
  const listening = [servers.socket, servers.port, channel.server];
  await Promise.all(listening.map((server) => once(server, 'listening')));
  cleanups.push(() => {
    for (const server of listening) server.close();
    cut();
  });
  const { port } = servers.port.address() as AddressInfo;
  const client = createCompanionClient({
    address: transport === 'channel' ? { sockets } : { url: `http://127.0.0.1:${port}` },
    token: options.clientToken ?? TOKEN,
    ...(options.status && { supervised: options.status }),
  });
  cleanups.push(() => client.close());

  const failures: HubError[] = [];
  const log = {};
  let settled = 0;
  const gateway = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      client
        .relay(
          {
            method: request.method as 'GET' | 'POST',
            path: request.url ?? '/',
            headers: ['content-type', 'application/json', 'x-target', 'one'],
            body: body.length > 0 ? body : null,
          },
          response,
          {
            id: 'id-1',
            caller: { id: 'zoë', label: 'zoë' },
            traceparent: undefined,
            log,
          } as unknown as RequestContext,
        )
        .catch((error: HubError) => {
          failures.push(error);
          response.writeHead(error.status).end(error.code);
        })
        .finally(() => {
          settled += 1;
        });
    });
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  cleanups.push(() => {
    gateway.close();
    gateway.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    companion: transport === 'channel' ? servers.socket : servers.port,
    cut,
    client,
    failures,
    log,
    settled: () => settled,
    companionInFlight: inFlight,
  };
}

describe.each(['channel', 'http'] as const)('over %s', (name) => {
  beforeAll(() => {
    transport = name;
  });

  test('status, repeated headers and body are relayed as they come, headers of one connection are not', async () => {
    const { url } = await startBench(async (request, response) => {
      response.writeHead(207, [
        'Content-Type',
        'text/plain',
        'X-Twice',
        'one',
        'X-Twice',
        'two',
        'Keep-Alive',
        'timeout=1',
        'x-request-id',
        'of the companion',
      ]);
      response.end(await bodyOf(request));
    });
    const answer = await send(`${url}/v1/echo?x=1`, { body: 'grüße' });
    expect(answer.status).toBe(207);
    expect(answer.text).toBe('grüße');
    expect(answer.headers['x-twice']).toBe('one, two');
    expect(answer.headers['x-request-id']).toBeUndefined();
    expect(answer.headers['keep-alive']).not.toBe('timeout=1');
  });

  test("the code of the companion's own error is for the access record, and nothing that a caller sees", async () => {
    const { url, log } = await startBench((request) => {
      if (request.url === '/v1/nobody') throw new HubError('target_not_found', 'There is no such target');
      throw new Error('a fault of ours');
    });
    const refused = await send(`${url}/v1/nobody`);
    expect([refused.status, refused.json().error.code, log]).toEqual([
      404,
      'target_not_found',
      { code: 'target_not_found' },
    ]);
    expect(Object.keys(refused.headers).filter((name) => name.includes('ailink'))).toEqual([]);
    await send(`${url}/v1/other`);
    expect(log).toEqual({ code: 'internal_error' });
  });

  test('the companion gets the path, the token, the request id and the caller', async () => {
    let seen: IncomingMessage['headers'] & { url?: string | undefined } = {};
    const { url } = await startBench((request, response) => {
      seen = { ...request.headers, url: request.url };
      response.end('{}');
    });
    await send(`${url}/v1/x?y=1`);
    expect(seen).toMatchObject({
      url: '/v1/x?y=1',
      'x-ailink-token': TOKEN,
      'x-request-id': 'id-1',
      'x-hub-caller': 'zo%C3%AB',
      'x-target': 'one',
    });
  });

  test('each chunk of a stream reaches the caller before the next is written', async () => {
    let write: (text: string) => void = () => {};
    let end = () => {};
    const { url } = await startBench((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      write = (text) => void response.write(text);
      end = () => void response.end();
      write('data: 1\n\n');
    });
    const { message } = await open(`${url}/v1/stream`);
    const chunks = message[Symbol.asyncIterator]();
    expect(String((await chunks.next()).value)).toBe('data: 1\n\n');
    write('data: 2\n\n');
    expect(String((await chunks.next()).value)).toBe('data: 2\n\n');
    end();
    expect((await chunks.next()).done).toBe(true);
  });

  test('the headers of an event stream go out before its first event', async () => {
    const { url } = await startBench((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
    });
    const { headers, leave } = await open(`${url}/v1/stream`);
    expect(headers['content-type']).toBe('text/event-stream');
    leave();
  });

  test('a caller who does not read holds the companion back', async () => {
    const chunk = Buffer.alloc(256 * 1024);
    let written = 0;
    const { url } = await startBench(async (_request, response) => {
      const closed = heard(response, 'close');
      while (!response.destroyed && written < 400) {
        written += 1;
        if (!response.write(chunk)) await Promise.race([heard(response, 'drain'), closed]);
      }
      response.end();
    });
    const { message } = await open(`${url}/v1/big`);
    message.pause();
    let before = -1;
    await until(
      'writing stops',
      () => {
        const still = before === written && written > 0;
        before = written;
        return still;
      },
      { everyMs: 200 },
    );
    expect(written).toBeLessThan(200);
    let received = 0;
    for await (const part of message) received += (part as Buffer).length;
    expect(received).toBe(400 * chunk.length);
  });

  test('a caller who leaves ends the call of the companion at once', async () => {
    let closed = false;
    const bench = await startBench((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      response.once('close', () => {
        closed = true;
      });
    });
    const { message, leave } = await open(`${bench.url}/v1/stream`);
    await once(message, 'data');
    message.on('error', () => {});
    leave();
    await until('the companion notices', () => closed);
    await until('the relay is over', () => bench.settled() === 1);
    expect(bench.failures).toEqual([]);
    expect(bench.companionInFlight()).toBe(0);
  });

  test('a caller who leaves before the first byte ends the call too', async () => {
    let closed = false;
    const bench = await startBench((_request, response) => {
      response.once('close', () => {
        closed = true;
      });
    });
    const leaving = new AbortController();
    const asking = send(`${bench.url}/v1/slow`, { signal: leaving.signal });
    asking.catch(() => {});
    await until('the call is there', () => bench.companionInFlight() === 1);
    leaving.abort();
    await until('the companion notices', () => closed);
    expect(bench.failures).toEqual([]);
  });

  test('a companion that goes away before the first byte is ailink_unavailable', async () => {
    const { url, failures, cut } = await startBench(() => void setImmediate(() => cut()));
    const answer = await send(`${url}/v1/x`);
    expect(answer.status).toBe(502);
    expect(failures.map((failure) => failure.code)).toEqual(['ailink_unavailable']);
  });

  test('a companion that goes away between head and body is ailink_unavailable as well', async () => {
    const { url, cut } = await startBench((_request, response) => {
      response.writeHead(200, { 'content-length': 5 });
      response.flushHeaders();
      setTimeout(() => cut(), 20);
    });
    expect((await send(`${url}/v1/x`)).status).toBe(502);
  });

  test.each([
    ['between two frames', 'data: 1\n\n', 'data: 1\n\n'],
    ['after CRLF frames', 'data: 1\r\n\r\n', 'data: 1\r\n\r\n'],
    ['after a line', 'data: 1\n', 'data: 1\n\n'],
    ['within a line', 'data: {"a', 'data: {"a\n\n'],
  ])('an event stream cut %s ends with one error frame', async (_where, sent, kept) => {
    const { url, cut } = await startBench((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sent);
      setTimeout(() => cut(), 20);
    });
    const answer = await send(`${url}/v1/stream`);
    expect(answer.text.startsWith(kept)).toBe(true);
    const rest = answer.text.slice(kept.length);
    expect(rest).toMatch(/^data: \{.*\}\n\n$/);
    expect(JSON.parse(rest.slice(6))).toMatchObject({ error: { code: 'ailink_unavailable' } });
  });

  test('any other answer that is cut is a reset for the caller', async () => {
    const { url, cut } = await startBench((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{"a":');
      setTimeout(() => cut(), 20);
    });
    await expect(send(`${url}/v1/x`)).rejects.toThrow();
  });

  test('a refused token is ailink_unavailable, never a 401 for the caller', async () => {
    const { url } = await startBench((_request, response) => void response.end(), {
      clientToken: 'another-token-0123456789abcdef-00000',
    });
    expect((await send(`${url}/v1/x`)).status).toBe(502);
  });

  test("a route's own 401 is relayed", async () => {
    const { url } = await startBench(() => {
      throw new HubError('unauthorized', 'no');
    });
    const answer = await send(`${url}/v1/x`);
    expect(answer.status).toBe(401);
    expect(answer.json()).toMatchObject({ error: { code: 'unauthorized', message: 'no' } });
  });

  test('a supervised companion that is down is not even tried', async () => {
    let calls = 0;
    const down: CompanionStatus = {
      status: 'down',
      pid: null,
      restarts: 1,
      since: new Date(0).toISOString(),
      nextRetryAt: null,
    };
    const { url, client } = await startBench(
      () => {
        calls += 1;
      },
      { status: () => down },
    );
    expect((await send(`${url}/v1/x`)).text).toBe('ailink_unavailable');
    await expect(client.call({ method: 'GET', path: '/v1/x' })).rejects.toThrow(HubError);
    expect(await client.probe(1000)).toBe(false);
    expect(calls).toBe(0);
  });

  test('a small call gives the JSON of the answer, or the error that the companion rendered', async () => {
    const { client } = await startBench(async (request, response) => {
      if (request.url === '/v1/fails')
        throw new HubError('rate_limited', 'Slow down', { details: { max: 3 } });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(await bodyOf(request));
    });
    expect(await client.call({ method: 'POST', path: '/v1/x', body: { a: 'ä' } })).toEqual({ a: 'ä' });
    await expect(client.call({ method: 'GET', path: '/v1/fails' })).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
      message: 'Slow down',
      details: { max: 3 },
    });
  });

  test('a small call and a probe end in bounded time when the companion hangs', async () => {
    const { client, companion } = await startBench(() => {});
    const call = client.call({ method: 'GET', path: '/v1/x', signal: AbortSignal.timeout(50) });
    await expect(call).rejects.toMatchObject({ code: 'ailink_unavailable' });
    companion.removeAllListeners('request');
    expect(await client.probe(50)).toBe(false);
  });

  test('a probe tells a right token from a wrong one', async () => {
    const right = await startBench(() => {});
    expect(await right.client.probe(1000)).toBe(true);
    expect(right.client.status()).toMatchObject({ status: 'up', pid: process.pid });
    const wrong = await startBench(() => {}, { clientToken: 'another-token-0123456789abcdef-00000' });
    expect(await wrong.client.probe(1000)).toBe(false);
    expect(wrong.client.status().status).toBe('down');
  });

  test('an answer that the companion itself cuts is cut for the caller', async () => {
    const { url } = await startBench((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
      setTimeout(() => response.destroy(), 20);
    });
    expect((await send(`${url}/v1/stream`)).text).toMatch(/^data: 1\n\ndata: \{"error":.*\}\n\n$/);
  });

  test('many calls at once each get their own answer, whatever their size', async () => {
    const { url } = await startBench(async (request, response) => {
      const body = await bodyOf(request);
      await new Promise((resolve) => setTimeout(resolve, body.length % 7));
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'x-length': String(body.length),
      });
      for (let at = 0; at < body.length; at += 50_000) {
        if (!response.write(body.subarray(at, at + 50_000))) await heard(response, 'drain');
      }
      response.end();
    });
    const sizes = Array.from(
      { length: 60 },
      (_, index) => 1 + ((index * 7919) % 97) * (index % 10 === 0 ? 20_000 : 37),
    );
    const answers = await Promise.all(
      sizes.map((size, index) => send(`${url}/v1/echo`, { body: Buffer.alloc(size, index) })),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer.headers['x-length']).toBe(String(sizes[index]));
      expect(answer.body.equals(Buffer.alloc(sizes[index] as number, index))).toBe(true);
    }
  });

  test('an answer without a body and a status of its own arrive', async () => {
    const { url } = await startBench((_request, response) => {
      response.writeHead(204, { 'x-given': 'by name' }).end();
    });
    const answer = await send(`${url}/v1/x`);
    expect(answer.status).toBe(204);
    expect(answer.headers['x-given']).toBe('by name');
    expect(answer.body).toHaveLength(0);
  });

  test('a response tells a route how it stands', async () => {
    const told: unknown[] = [];
    const { url } = await startBench((_request, response) => {
      told.push(response.headersSent, response.writableEnded, response.destroyed);
      response.once('close', () => told.push(response.writableFinished));
      response.end('done');
      told.push(response.headersSent, response.writableEnded);
    });
    expect((await send(`${url}/v1/x`)).text).toBe('done');
    await until('it is closed', () => told.length === 6);
    expect(told).toEqual([false, false, false, true, true, true]);
  });
});
