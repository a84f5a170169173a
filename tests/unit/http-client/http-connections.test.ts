import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import type { AnswerHeaders, Exchange } from '../../../lib/http-client/answer.ts';
import { createHttpConnections, type HttpConnections } from '../../../lib/http-client/http-connections.ts';
import { until } from '../../helpers/until.ts';

const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Listening {
  origin: URL;
  /** Every connection that was ever opened. */
  sockets: Socket[];
}

async function listen(server: Server): Promise<Listening> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endings.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { origin: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), sockets };
}

const serve = (listener: RequestListener) => listen(createHttpServer(listener));

/** A server that says what it is told to, once a request has come, and then keeps the connection as it is. */
const say = (answer: (socket: Socket) => void) =>
  listen(createServer((socket) => void socket.on('data', () => answer(socket))));

function connect(origin: URL, more: { proxy?: URL; connectTimeout?: number } = {}): HttpConnections {
  const connections = createHttpConnections({ origin, proxy: undefined, connectTimeout: 5000, ...more });
  endings.push(async () => connections.close());
  return connections;
}

interface Answer {
  status: number;
  headers: AnswerHeaders;
  body: string;
}

/** Sends one call and waits for its end. `onSent` gets its exchange. */
function call(
  connections: HttpConnections,
  { path = '/', headers = [] as string[], body = Buffer.from('{}') } = {},
  onSent?: (exchange: Exchange) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const answer: Answer = { status: 0, headers: {}, body: '' };
    const exchange = connections.send(
      { path, headers, body },
      {
        onHead(status, received) {
          answer.status = status;
          answer.headers = received;
        },
        onData(chunk) {
          answer.body += chunk;
        },
        onEnd: () => resolve(answer),
        onError: reject,
      },
    );
    onSent?.(exchange);
  });
}

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('connections', () => {
  test('a call carries its path, headers and body, large or small', async () => {
    const { origin } = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      response.end(
        JSON.stringify([request.method, request.url, request.headers, Buffer.concat(chunks).length]),
      );
    });
    const connections = connect(origin);
    for (const size of [0, 5, 16_384, 16_385, 3_000_000]) {
      const answer = await call(connections, {
        path: '/a/b?c=d',
        headers: ['X-Key', 'k', 'accept', '*/*'],
        body: Buffer.alloc(size, 'x'),
      });
      expect(JSON.parse(answer.body)).toEqual([
        'POST',
        '/a/b?c=d',
        {
          host: origin.host,
          connection: 'keep-alive',
          'x-key': 'k',
          accept: '*/*',
          'content-length': String(size),
        },
        size,
      ]);
    }
  });

  test('calls in turn share one connection, calls at once have one each', async () => {
    const { origin, sockets } = await serve((_, response) => void setTimeout(() => response.end('x'), 20));
    const connections = connect(origin);
    await call(connections);
    await call(connections);
    expect(sockets).toHaveLength(1);
    await Promise.all([call(connections), call(connections), call(connections)]);
    expect(sockets).toHaveLength(3);
  });

  test.each([
    ['says close', 'connection: close\r\n'],
    ['has no patience', 'keep-alive: timeout=1\r\n'],
  ])('none is used again where the server %s', async (_, line) => {
    const { origin, sockets } = await say((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${line}content-length: 0\r\n\r\n`),
    );
    const connections = connect(origin);
    await call(connections);
    await call(connections);
    expect(sockets).toHaveLength(2);
    await until('the connections are closed', () => sockets.every((socket) => socket.destroyed));
  });

  test('one that the server closed while it was idle costs no call', async () => {
    const { origin, sockets } = await serve((_, response) => void response.end('x'));
    const connections = connect(origin);
    await call(connections);
    sockets[0]?.end();
    await once(sockets[0] as Socket, 'close');
    await expect(call(connections)).resolves.toMatchObject({ status: 200 });
    expect(sockets).toHaveLength(2);
  });

  test.each([
    ['', 29, 1],
    ['', 31, 2],
    ['keep-alive: timeout=5\r\n', 3, 1],
    ['keep-alive: timeout=5\r\n', 5, 2],
  ])('with %j and %s idle seconds there have been %s of them', async (line, seconds, expected) => {
    const { origin, sockets } = await say((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${line}content-length: 1\r\n\r\nx`),
    );
    const connections = connect(origin);
    await call(connections);
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now + seconds * 1000);
    await expect(call(connections)).resolves.toMatchObject({ body: 'x' });
    clock.mockRestore();
    expect(sockets).toHaveLength(expected);
  });

  test('a call that is aborted before its idle connection was looked at leaves that to the next', async () => {
    const { origin, sockets } = await serve((_, response) => void response.end('x'));
    const connections = connect(origin);
    await call(connections);
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now + 2000);
    void call(connections, {}, (exchange) => exchange.abort());
    await new Promise(setImmediate);
    await expect(call(connections)).resolves.toMatchObject({ body: 'x' });
    clock.mockRestore();
    expect(sockets).toHaveLength(1);
  });

  test('one that brings what nobody asked for is closed', async () => {
    const { origin, sockets } = await say((socket) =>
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx'),
    );
    const connections = connect(origin);
    await call(connections);
    sockets[0]?.write('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged');
    await until('the connection is closed', () => sockets[0]?.destroyed);
    await expect(call(connections)).resolves.toMatchObject({ body: 'x' });
  });

  test('one whose request is not all sent when the answer ends carries no other call', async () => {
    const { origin, sockets } = await listen(
      createServer((socket) => {
        socket.once('data', () => {
          socket.pause();
          socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n');
        });
      }),
    );
    const connections = connect(origin);
    const large = { body: Buffer.alloc(64 * 1024 * 1024) };
    await expect(call(connections, large)).resolves.toMatchObject({ status: 413 });
    await expect(call(connections, large)).resolves.toMatchObject({ status: 413 });
    expect(sockets).toHaveLength(2);
  });
});

describe('a call', () => {
  test('that is aborted closes its connection and hears nothing more', async () => {
    const { origin, sockets } = await serve((_, response) => void response.write('x'));
    const told: unknown[] = [];
    const connections = connect(origin);
    const exchange = connections.send(
      { path: '/', headers: [], body: Buffer.alloc(0) },
      {
        onHead: (status) => void told.push(status),
        onData: () => exchange.abort(),
        onEnd: () => void told.push('end'),
        onError: (error) => void told.push(error),
      },
    );
    await until('the connection is closed', () => sockets[0]?.destroyed);
    expect(told).toEqual([200]);
  });

  test('that is over leaves the next one on its connection alone', async () => {
    const { origin, sockets } = await serve((_, response) => void setTimeout(() => response.end('x'), 20));
    const connections = connect(origin);
    let first: Exchange | undefined;
    await call(connections, {}, (exchange) => {
      first = exchange;
    });
    const second = call(connections);
    first?.pause();
    first?.abort();
    await expect(second).resolves.toMatchObject({ body: 'x' });
    expect(sockets).toHaveLength(1);
  });

  test('that is aborted while it waits for a connection leaves none behind', async () => {
    const { origin, sockets } = await serve((_, response) => void response.end());
    const told: unknown[] = [];
    const connections = connect(origin);
    const tell = (what: unknown) => void told.push(what);
    connections
      .send(
        { path: '/', headers: [], body: Buffer.alloc(0) },
        { onHead: tell, onData: tell, onEnd: () => tell(0), onError: tell },
      )
      .abort();
    await sleep(50);
    expect(told).toEqual([]);
    expect(sockets.filter((socket) => !socket.destroyed)).toEqual([]);
  });

  test('that pauses holds the server back, and gets everything after it has resumed', async () => {
    let sent = 0;
    let waits = false;
    const piece = Buffer.alloc(64 * 1024);
    const total = 512 * piece.length;
    const { origin } = await serve((_, response) => {
      const more = () => {
        while (sent < total) {
          sent += piece.length;
          if (!response.write(piece)) {
            waits = true;
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    let received = 0;
    let isPaused = false;
    let pausedAt = 0;
    const connections = connect(origin);
    const ended = new Promise<void>((resolve, reject) => {
      const exchange = connections.send(
        { path: '/', headers: [], body: Buffer.alloc(0) },
        {
          onHead() {},
          onData(chunk) {
            received += chunk.length;
            if (isPaused || pausedAt > 0) return;
            isPaused = true;
            exchange.pause();
            void until('the server has to wait', () => waits).then(async () => {
              await sleep(20);
              pausedAt = received;
              isPaused = false;
              exchange.resume();
            });
          },
          onEnd: resolve,
          onError: reject,
        },
      );
    });
    await ended;
    expect(pausedAt).toBeLessThan(1024 * 1024);
    expect(received).toBe(total);
  });

  test.each<[string, string, string]>([
    ['in its head', 'HTTP/1.1 200 OK\r\ncontent-', 'CONNECTION_LOST'],
    ['in a body with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx', 'CONNECTION_LOST'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nx', 'CONNECTION_LOST'],
    [
      'before the last chunk',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n',
      'CONNECTION_LOST',
    ],
    ['with nonsense', 'What?\r\n\r\n', 'MALFORMED_ANSWER'],
  ])('whose answer ends %s fails', async (_, text, expected) => {
    const { origin } = await say((socket) => socket.end(text));
    await expect(call(connect(origin))).rejects.toEqual(code(expected));
  });

  test('whose answer has neither length nor chunks ends with its connection', async () => {
    const { origin } = await say((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'));
    await expect(call(connect(origin))).resolves.toMatchObject({ body: 'hello' });
  });

  test('whose connection is reset fails with what the system said', async () => {
    const { origin } = await say((socket) => void socket.resetAndDestroy());
    await expect(call(connect(origin))).rejects.toEqual(code('ECONNRESET'));
  });

  test('that nobody listens to fails', async () => {
    const { origin } = await serve(() => {});
    const [end] = endings.splice(0);
    await end?.();
    await expect(call(connect(origin))).rejects.toEqual(code('ECONNREFUSED'));
  });

  test.each([
    ['a line end in its path', { path: '/a\r\nx: y' }],
    ['a blank in its path', { path: '/a b' }],
    ['a character past Latin-1 in its path', { path: '/\u{1F600}' }],
    ['a line end in a value', { headers: ['x', 'a\r\ny: z'] }],
    ['a line end in a name', { headers: ['x\r\ny', 'z'] }],
    ['an empty name', { headers: ['', 'z'] }],
  ])('with %s is not sent', async (_, request) => {
    const { origin, sockets } = await serve((_request, response) => void response.end());
    await expect(call(connect(origin), request)).rejects.toEqual(code('INVALID_REQUEST'));
    expect(sockets).toEqual([]);
  });

  test('whose handler fails at its end is told so', async () => {
    const { origin } = await serve((_, response) => void response.end('x'));
    const error = new Error('of the handler');
    const told = await new Promise((resolve) => {
      connect(origin).send(
        { path: '/', headers: [], body: Buffer.alloc(0) },
        {
          onHead() {},
          onData() {},
          onEnd() {
            throw error;
          },
          onError: resolve,
        },
      );
    });
    expect(told).toBe(error);
  });

  test('fails when the connections are closed, be it under way or waiting', async () => {
    const { origin, sockets } = await serve(() => {});
    const connections = connect(origin);
    const underWay = call(connections);
    await until('it is connected', () => sockets.length === 1);
    const waiting = call(connections);
    connections.close();
    await expect(underWay).rejects.toEqual(code('CONNECTION_LOST'));
    await expect(waiting).rejects.toEqual(code('CONNECTION_LOST'));
  });

  test('gives up when a tunnel is not answered in time', async () => {
    const { origin: proxy } = await listen(createServer(() => {}));
    const connections = connect(new URL('https://provider.example'), { proxy, connectTimeout: 50 });
    await expect(call(connections)).rejects.toEqual(code('CONNECT_TIMEOUT'));
  });

  test('is not sent where the proxy refuses a tunnel, and the proxy gets its password', async () => {
    let asked = '';
    const { origin: proxy } = await listen(
      createServer((socket) => {
        socket.on('data', (chunk) => {
          asked += chunk;
          socket.write('HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n');
        });
      }),
    );
    proxy.username = 'us%65r';
    proxy.password = 'p%3Aw';
    await expect(call(connect(new URL('https://provider.example'), { proxy }))).rejects.toEqual(
      code('PROXY_REFUSED'),
    );
    expect(asked).toBe(
      'CONNECT provider.example:443 HTTP/1.1\r\nhost: provider.example:443\r\n' +
        `proxy-authorization: Basic ${Buffer.from('user:p:w').toString('base64')}\r\n\r\n`,
    );
  });
});
