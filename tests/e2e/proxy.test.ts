import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { type Answer, open, type SendOptions, send, sendRaw } from '../helpers/http.ts';
import { startIdentityApi } from '../helpers/identity-api.ts';
import { ADMIN_KEY, type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';
import { type Arrived, startUpstream, type Upstream } from '../helpers/upstream.ts';

let upstream: Upstream;
let hub: HubProcess;
/** A hub with authentication on, in front of the same service. */
let guarded: HubProcess;

const proxiesOf = (url: string) => [
  {
    id: 'wiki',
    url: `${url}/base/`,
    removeHeaders: ['X-Secret', 'accept-language'],
    removeResponseHeaders: ['Server', 'x-internal'],
    headers: { 'X-Api-Key': 'configured-api-key-0123456789' },
    timeout: 400,
  },
  { id: 'root', url },
  { id: 'open', url: `${url}/open`, auth: false },
  { id: 'dead', url: 'http://127.0.0.1:9' },
];

beforeAll(async () => {
  const [service, identity] = await Promise.all([startUpstream(), startIdentityApi()]);
  upstream = service;
  const admin = { enabled: true, apiKeys: [ADMIN_KEY] };
  [hub, guarded] = await Promise.all([
    startHub({ config: { proxies: proxiesOf(service.url), auth: { admin } } }),
    startHub({
      config: {
        hub: { security: { trustProxy: '127.0.0.1' } },
        proxies: proxiesOf(service.url),
        auth: {
          enabled: true,
          edapi_url: identity.url,
          session: { cookie: { secret: 'session-secret-0123456789-abcdefghijkl' } },
          admin,
        },
      },
      env: { HUB_HOST: '127.0.0.1' },
    }),
  ]);
});
beforeEach(() => {
  upstream.answer = undefined;
  upstream.arrived.length = 0;
});

const ask = (path: string, options?: SendOptions) => send(hub.url + path, options);
const arrived = (): Arrived => upstream.arrived.at(-1) as Arrived;
const problem = (answer: Answer) => [answer.status, answer.json().error.code];

describe('a proxy is chosen', () => {
  test.each<[string, Record<string, string>, string]>([
    ['/proxy/wiki/a/b?x=1&y=%20', {}, '/base/a/b?x=1&y=%20'],
    ['/proxy/a/b?x=1', { 'x-target': 'wiki' }, '/base/a/b?x=1'],
    ['/proxy/wiki/a', { 'x-target': 'root' }, '/wiki/a'],
    ['/proxy/wiki', {}, '/base/'],
    ['/proxy/wiki/', {}, '/base/'],
    ['/proxy', { 'x-target': 'wiki' }, '/base/'],
    ['/proxy/?q', { 'x-target': 'root' }, '/?q'],
    ['/proxy/root?a=/../b', {}, '/?a=/../b'],
    ['/proxy/wiki//double//slash/', {}, '/base//double//slash/'],
    [
      '/proxy/wiki/%7Euser/a%20b/%C3%BC/file%2Ename/a%2Fb;v=1',
      {},
      '/base/%7Euser/a%20b/%C3%BC/file%2Ename/a%2Fb;v=1',
    ],
    ['/proxy/wiki/...//..a/b..', {}, '/base/...//..a/b..'],
    ['/proxy/%77iki/a', {}, '/base/a'],
  ])(
    'by x-target or the first segment, and the rest stays as written: %s %j is %s [C9-choice C9-keeps C2-proxies]',
    async (path, headers, url) => {
      expect((await ask(path, { headers })).status).toBe(200);
      expect(arrived().url).toBe(url);
      expect(arrived().headers['x-target']).toBeUndefined();
    },
  );

  test('and one that does not exist is 404 [C9-unknown]', async () => {
    expect(problem(await ask('/proxy/nobody/a'))).toEqual([404, 'proxy_not_found']);
    expect(problem(await ask('/proxy/wiki/a', { headers: { 'x-target': 'nobody' } }))).toEqual([
      404,
      'proxy_not_found',
    ]);
    expect(problem(await ask('/proxy/wiki', { headers: { 'x-target': '' } }))).toEqual([
      404,
      'proxy_not_found',
    ]);
    expect(problem(await ask('/proxy'))).toEqual([400, 'target_required']);
    expect(problem(await ask('/proxy/'))).toEqual([400, 'target_required']);
  });

  test.each([
    '/..',
    '/../x',
    '/a/../../x',
    '/a/../x',
    '/%2e%2e/x',
    '/%2E./x',
    '/.%2e',
    '/..%2fx',
    '/..%2Fx',
    '/..%5cx',
    '/%5c..%5cx',
    '/..\\x',
    '/a\\..\\x',
    '/%252e%252e/x',
    '/%25252e%25252e%25252fx',
    '/..%252fx',
    '/..;/x',
    '/..;a=b/x',
    '/..%3bx/y',
    '/..%00/x',
    '/a%00',
    '/..%20/x',
    '/%ef%bc%8e%ef%bc%8e/x',
    '/%e2%80%a5/x',
    '/%c0%ae%c0%ae/x',
    '/..#/x',
    '/a#/../x',
    '/%',
    '/%zz',
  ])('and no path leaves its base: %s is refused [C9-base-path]', async (rest) => {
    for (const [path, header] of [
      [`/proxy/wiki${rest}`, ''],
      [`/proxy${rest}`, 'x-target: wiki\r\n'],
    ]) {
      const answer = await sendRaw(
        hub.url,
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${header}Connection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    }
    expect(upstream.arrived).toEqual([]);
  });
});

describe('a request', () => {
  test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'REPORT'])(
    'passes with its method: %s [C9-any-method]',
    async (method) => {
      const body = ['GET', 'HEAD', 'OPTIONS'].includes(method) ? undefined : 'some text';
      const answer = await ask('/proxy/wiki/m', { method, ...(body && { body }) });
      expect(answer.status).toBe(200);
      expect(arrived()).toMatchObject({ method, url: '/base/m', bytes: body?.length ?? 0 });
      expect(answer.body.length === 0).toBe(method === 'HEAD');
      if (method === 'HEAD') expect(Number(answer.headers['content-length'])).toBeGreaterThan(0);
    },
  );

  test.each(['GET', 'DELETE', 'OPTIONS', 'SEARCH'])(
    'passes a body whatever the method: %s [C9-any-method C9-keeps]',
    async (method) => {
      for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
        const answer = await ask('/proxy/wiki/search', { method, body: '{"query":{}}', headers });
        expect([answer.status, answer.json()]).toMatchObject([200, { method, bytes: 12 }]);
      }
    },
  );

  test('keeps repeated headers and drops what is of the connection, of the hub, or configured away [C9-keeps C9-drops C2-proxies]', async () => {
    const lines = [
      'GET /proxy/wiki/h HTTP/1.1',
      'Host: localhost:1234',
      'X-Repeat: one',
      'x-repeat: two',
      'X-REPEAT: three, four',
      'Connection: close, X-Hop, keep-alive',
      'X-Hop: 1',
      'Keep-Alive: timeout=5',
      'Proxy-Authorization: Basic x',
      'Proxy-Connection: keep-alive',
      'TE: trailers, deflate',
      'Trailer: x-sum',
      'Authorization: Bearer callers-own-token',
      'Cookie: a=b',
      'x-admin-key: some-key',
      'x-secret: s',
      'Accept-Language: de',
      'x-api-key: of-the-caller',
      'X-Request-Id: req-1',
      'Accept: text/html;q=0.9, */*',
      'X-Latin: caf\xe9',
    ];
    await sendRaw(hub.url, Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
    const pairs: string[] = [];
    const { rawHeaders } = arrived();
    for (let i = 0; i < rawHeaders.length; i += 2) pairs.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
    expect(pairs.filter((pair) => !/^(host|connection): /i.test(pair))).toEqual([
      'X-Repeat: one',
      'x-repeat: two',
      'X-REPEAT: three, four',
      'Accept: text/html;q=0.9, */*',
      'X-Latin: caf\xe9',
      'x-forwarded-for: 127.0.0.1',
      'x-forwarded-proto: http',
      'x-forwarded-host: localhost:1234',
      'x-request-id: req-1',
      'te: trailers',
      'X-Api-Key: configured-api-key-0123456789',
    ]);
    expect(arrived().headers.host).toBe(new URL(upstream.url).host);
  });

  test("replaces a stranger's X-Forwarded-*, and appends to a trusted proxy's [C9-forwarded]", async () => {
    const headers = {
      'x-forwarded-for': '192.0.2.7, 198.51.100.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'hub.example',
      'x-forwarded-port': '8443',
      'x-real-ip': '192.0.2.7',
      forwarded: 'for=192.0.2.7',
    };
    await ask('/proxy/root/f', { headers });
    expect(arrived().headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(hub.url).host,
    });
    for (const name of ['x-forwarded-port', 'x-real-ip', 'forwarded'])
      expect(arrived().headers[name]).toBeUndefined();

    await send(`${guarded.url}/proxy/open/f`, { headers });
    expect(arrived().headers).toMatchObject({
      ...headers,
      'x-forwarded-for': '192.0.2.7, 198.51.100.1, 127.0.0.1',
    });
  });

  test('streams a body of any size and framing up and back, byte for byte [C9-streams C9-keeps]', async () => {
    const body = randomBytes(3_000_000);
    const sha256 = createHash('sha256').update(body).digest('hex');
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await ask('/proxy/root/up', { method: 'POST', body, headers });
      expect(answer.json()).toMatchObject({ bytes: body.length, sha256 });
      expect(arrived().headers['content-length']).toBe(
        'transfer-encoding' in headers ? undefined : '3000000',
      );
    }
    upstream.answer = (request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/octet-stream', etag: '"x"' });
      response.end(body);
    };
    const back = await ask('/proxy/root/down');
    expect(back.body.equals(body)).toBe(true);
    expect(back.headers.etag).toBe('"x"');
  });

  test('is answered while it is still being sent: bytes flow as they come [C9-streams]', async () => {
    upstream.answer = (request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.flushHeaders();
      request.on('data', (chunk) => response.write(`got ${chunk};`));
      request.on('end', () => response.end('end'));
    };
    const { port } = new URL(hub.url);
    const request = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/proxy/root/chat',
      agent: false,
    });
    request.write('one');
    const message = await new Promise<import('node:http').IncomingMessage>((resolve) =>
      request.once('response', resolve),
    );
    let text = '';
    message.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    await until('the first echo', () => text === 'got one;');
    request.write('two');
    await until('the second echo', () => text === 'got one;got two;');
    request.end();
    await until('the end', () => text === 'got one;got two;end');
  });

  test('is held back by a service that does not read, and the answer by a caller that does not [C9-streams]', async () => {
    let sent = 0;
    let arrivedBytes = 0;
    upstream.answer = (request) => {
      request.once('data', (chunk) => {
        arrivedBytes += chunk.length;
        request.pause();
      });
    };
    const { port } = new URL(hub.url);
    const up = httpRequest({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/proxy/root/slow',
      agent: false,
    });
    up.on('error', () => {});
    const chunk = Buffer.alloc(256 * 1024);
    const pump = () => {
      while (sent < 200 * 1024 * 1024) {
        sent += chunk.length;
        if (!up.write(chunk)) {
          up.once('drain', pump);
          return;
        }
      }
    };
    pump();
    await until('the first bytes', () => arrivedBytes > 0);
    let before = -1;
    await until(
      'nothing more is taken',
      () => {
        const still = sent === before;
        before = sent;
        return still;
      },
      { everyMs: 300, timeoutMs: 15_000 },
    );
    expect(sent).toBeLessThan(40 * 1024 * 1024);
    up.destroy();

    let produced = 0;
    upstream.answer = (_request, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed) {
          produced += chunk.length;
          if (!response.write(chunk)) {
            response.once('drain', more);
            return;
          }
        }
      };
      more();
    };
    const down = await open(`${hub.url}/proxy/root/endless`);
    before = -1;
    await until(
      'nothing more is made',
      () => {
        const still = produced > 0 && produced === before;
        before = produced;
        return still;
      },
      { everyMs: 300, timeoutMs: 15_000 },
    );
    expect(produced).toBeLessThan(40 * 1024 * 1024);
    down.leave();

    // Whoever takes nothing for longer than the proxy's time-out (400 ms on this one) is cut off.
    let isCut = false;
    const endless = upstream.answer;
    upstream.answer = (request, response) => {
      response.once('close', () => {
        isCut = true;
      });
      endless(request, response);
    };
    const stalled = await open(`${hub.url}/proxy/wiki/endless`);
    stalled.message.on('error', () => {});
    await until('it is cut off', () => isCut);
    stalled.leave();
  });

  test('that waits for leave to send its body is refused without it, and gets leave from a service that reads', async () => {
    const ask100 = (path: string) =>
      sendRaw(
        hub.url,
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`,
        1500,
      );
    expect(await ask100('/proxy/nobody')).toMatch(/^HTTP\/1\.1 404 /);
    expect(await ask100('/proxy/dead/x')).toMatch(/^HTTP\/1\.1 502 /);
    expect(await ask100('/proxy/root/x')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  });
});

describe('an answer', () => {
  test('keeps status, reason, repeated headers, trailers and interim framing; drops what is configured away [C9-keeps C9-drops C9-removes-response-headers]', async () => {
    upstream.answer = (_request, response) => {
      response.socket?.write(
        [
          'HTTP/1.1 207 Very Multi',
          'Set-Cookie: a=1; Path=/',
          'Set-Cookie: b=2',
          'Link: </x>; rel=next',
          'link: </y>; rel=prev',
          'Server: secret/1.0',
          'X-Internal: 10.0.0.7',
          'X-Powered-By: Something',
          'X-Request-Id: of-the-service',
          'Connection: close, X-Hop',
          'X-Hop: 1',
          'Trailer: X-Sum',
          'Transfer-Encoding: chunked',
          '',
          '5',
          'hello',
          '0',
          'X-Sum: 42',
          'X-Sum: 43',
          '',
          '',
        ].join('\r\n'),
      );
    };
    const answer = await open(`${hub.url}/proxy/wiki/r`);
    let text = '';
    for await (const chunk of answer.message) text += chunk;
    expect([answer.status, answer.message.statusMessage, text]).toEqual([207, 'Very Multi', 'hello']);
    expect(answer.headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2']);
    expect(answer.headers.link).toBe('</x>; rel=next, </y>; rel=prev');
    expect(answer.headers.trailer).toBe('X-Sum');
    expect(answer.message.rawTrailers).toEqual(['X-Sum', '42', 'X-Sum', '43']);
    for (const name of ['server', 'x-internal', 'x-powered-by', 'x-hop'])
      expect(answer.headers[name]).toBeUndefined();
    expect(answer.headers['x-request-id']).not.toBe('of-the-service');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test.each([204, 304, 301, 404, 500, 599])('of status %i passes as it is', async (status) => {
    upstream.answer = (_request, response) =>
      response.writeHead(status, { location: 'http://elsewhere.example/', 'x-mark': 'yes' }).end();
    const answer = await ask('/proxy/wiki/s');
    expect([answer.status, answer.headers.location, answer.headers['x-mark']]).toEqual([
      status,
      'http://elsewhere.example/',
      'yes',
    ]);
  });

  test('that comes before the body was sent reaches its caller whole, and the connection is ended in peace', async () => {
    upstream.answer = (_request, response) => {
      response.writeHead(413, { 'content-type': 'text/plain' });
      response.end('too much');
    };
    const answer = await ask('/proxy/root/big', { method: 'POST', body: Buffer.alloc(8 * 1024 * 1024) });
    expect([answer.status, answer.text]).toEqual([413, 'too much']);

    // The rest of the body is read away, so that the connection can carry the next request.
    const bytes = 8 * 1024 * 1024;
    const both = await sendRaw(
      hub.url,
      Buffer.concat([
        Buffer.from(`POST /proxy/root/big HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes}\r\n\r\n`),
        Buffer.alloc(bytes),
        Buffer.from('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
      ]),
    );
    expect(both).toMatch(/^HTTP\/1\.1 413 [\s\S]*too much[\s\S]*HTTP\/1\.1 200 OK[\s\S]*"status":"ok"/);
  });

  test('flows: each event reaches the caller when it is made [C9-streams]', async () => {
    let push = (_text: string) => {};
    upstream.answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      push = (text) => void response.write(text);
    };
    const { message, leave } = await open(`${hub.url}/proxy/root/events`);
    let text = '';
    message.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    message.on('error', () => {});
    push('data: 1\n\n');
    await until('the first event', () => text === 'data: 1\n\n');
    push('data: 2\n\n');
    await until('the second event', () => text === 'data: 1\n\ndata: 2\n\n');
    leave();
  });
});

describe('a service that fails', () => {
  const failures: [string, [number, string], NonNullable<Upstream['answer']>][] = [
    ['cuts the connection', [502, 'upstream_unavailable'], (request) => request.socket.destroy()],
    [
      'speaks no HTTP',
      [502, 'upstream_bad_response'],
      (request) => request.socket.end('SSH-2.0-OpenSSH\r\n\r\n'),
    ],
    ['is silent', [504, 'upstream_timeout'], () => {}],
  ];
  test.each(failures)(
    'and %s is %j, without a word about it [C9-failure]',
    async (_name, expected, answer) => {
      upstream.answer = answer;
      const failed = await ask('/proxy/wiki/fail', { method: 'POST', body: 'x' });
      expect(problem(failed)).toEqual(expected);
      expect(failed.text).not.toContain(new URL(upstream.url).port);
      expect(failed.headers['x-request-id']).toBeDefined();
    },
  );

  test('and is not there is 502 [C9-failure]', async () => {
    const failed = await ask('/proxy/dead/x');
    expect([...problem(failed), failed.json().error.type]).toEqual([
      502,
      'upstream_unavailable',
      'upstream_error',
    ]);
  });

  test.each<[string, NonNullable<Upstream['answer']>]>([
    [
      'with a length',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half');
        setTimeout(() => response.destroy(), 50);
      },
    ],
    [
      'in chunks',
      (_request, response) => {
        response.writeHead(200);
        response.write('half');
        setTimeout(() => response.destroy(), 50);
      },
    ],
    [
      'by silence',
      (_request, response) => {
        response.writeHead(200);
        response.write('half');
      },
    ],
  ])('in the middle of an answer %s shows it as broken, never as complete', async (_name, answer) => {
    upstream.answer = answer;
    await expect(ask('/proxy/wiki/cut')).rejects.toThrow(/aborted|hang up|ECONNRESET/);
  });

  test('on a connection that it had closed meanwhile is asked again where nothing can happen twice', async () => {
    let seen = 0;
    upstream.answer = (request, response) => {
      seen += 1;
      if (seen === 2 || seen === 5) request.socket.destroy();
      else response.end('ok');
    };
    expect((await ask('/proxy/root/1')).text).toBe('ok');
    expect((await ask('/proxy/root/2')).text).toBe('ok');
    expect(seen).toBe(3);
    await ask('/proxy/root/3');
    expect(problem(await ask('/proxy/root/4', { method: 'POST', body: 'x' }))).toEqual([
      502,
      'upstream_unavailable',
    ]);
    expect(seen).toBe(5);
  });

  test('a caller that leaves ends the request to the service at once', async () => {
    let left = false;
    upstream.answer = (request) => {
      request.socket.once('close', () => {
        left = true;
      });
    };
    const leaving = new AbortController();
    const pending = ask('/proxy/root/wait', { signal: leaving.signal });
    await until('it arrives', () => upstream.connections() > 0);
    setTimeout(() => leaving.abort(), 50);
    await expect(pending).rejects.toThrow();
    await until('the service sees it', () => left);
  });
});

describe('authentication', () => {
  const bearer = { authorization: 'Bearer token-of-anna' };
  const at = (path: string, headers: Record<string, string> = {}) => send(guarded.url + path, { headers });

  test('guards every proxy but those with auth: false, by whatever spelling [C9-auth-false]', async () => {
    for (const path of [
      '/proxy/wiki/a',
      '/proxy/nobody/a',
      '/proxy',
      '/proxy/%6Fpen%2F/a',
      '/proxy/open/../wiki/a',
    ]) {
      const answer = await at(path);
      expect([path, ...problem(answer)]).toEqual([path, 401, 'unauthorized']);
    }
    expect(problem(await at('/proxy/open/a', { 'x-target': 'wiki' }))).toEqual([401, 'unauthorized']);
    expect((await at('/proxy/open/a')).status).toBe(200);
    expect((await at('/proxy/a', { 'x-target': 'open' })).status).toBe(200);
    expect((await at('/proxy/wiki/a', bearer)).status).toBe(200);
  });

  test('of a guarded proxy stays in the hub: neither Authorization nor any cookie reaches the service [C9-auth-false]', async () => {
    const cookie = (await at('/proxy/wiki/a', bearer)).headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect(cookie).toMatch(/^hub\.sid=/);
    await at('/proxy/wiki/a', { ...bearer, cookie: `${cookie}; theme=dark` });
    expect(arrived().headers.authorization).toBeUndefined();
    expect(arrived().headers.cookie).toBeUndefined();
  });

  test("with auth: false passes Authorization and the cookies that are not the hub's [C9-auth-false]", async () => {
    await at('/proxy/open/a', {
      authorization: 'Basic abc',
      cookie: 'theme=dark; hub.sid=stolen.value;lang=de',
      'x-admin-key': 'k',
    });
    expect(arrived().headers).toMatchObject({ authorization: 'Basic abc', cookie: 'theme=dark; lang=de' });
    expect(arrived().headers['x-admin-key']).toBeUndefined();
    await at('/proxy/open/a', { cookie: 'hub.sid=stolen.value' });
    expect(arrived().headers.cookie).toBeUndefined();
  });

  test("no service sets the hub's cookie [C9-set-cookie]", async () => {
    upstream.answer = (_request, response) => {
      response.writeHead(200, {
        'set-cookie': [
          'hub.sid=planted; Path=/',
          'ok=1',
          ' hub.sid =planted',
          '=hub.sid=planted',
          'hub.sidecar=1',
          'hub.sid',
        ],
      });
      response.end();
    };
    expect((await ask('/proxy/root/c')).headers['set-cookie']).toEqual(['ok=1', 'hub.sidecar=1']);
    expect((await at('/proxy/open/c')).headers['set-cookie']).toEqual(['ok=1', 'hub.sidecar=1']);
    const [own, ...rest] = ((await at('/proxy/wiki/c', bearer)).headers['set-cookie'] ?? []).reverse();
    expect(own).toMatch(/^hub\.sid=(?!planted)/);
    expect(rest.sort()).toEqual(['hub.sidecar=1', 'ok=1']);
  });

  test('lets no shared cache keep the session cookie with an answer that caches may keep', async () => {
    upstream.answer = (_request, response) =>
      response.writeHead(200, { 'cache-control': 'public, max-age=60' }).end('for all');
    const first = await at('/proxy/wiki/c', { authorization: 'Bearer token-of-carl' });
    expect(first.headers['set-cookie']).toHaveLength(1);
    expect(first.headers['cache-control']).toBe('public, max-age=60, no-cache="Set-Cookie"');
    const cookie = first.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    expect((await at('/proxy/wiki/c', { cookie })).headers['cache-control']).toBe('public, max-age=60');
  });
});

describe('a WebSocket', () => {
  const connect = (
    base: string,
    path: string,
    options: { headers?: Record<string, string>; protocols?: string[] } = {},
  ) => {
    const client = new WebSocket(base.replace('http', 'ws') + path, options.protocols ?? [], {
      headers: options.headers ?? {},
    });
    return new Promise<WebSocket>((resolve, reject) => {
      client.once('open', () => resolve(client));
      client.once('unexpected-response', (_request, response) => {
        reject(new Error(`refused with ${response.statusCode} ${response.headers['x-why'] ?? ''}`));
        response.resume();
      });
      client.once('error', reject);
    });
  };

  test('passes both ways, with its subprotocol and its size [C9-websocket]', async () => {
    const client = await connect(hub.url, '/proxy/wiki/ws?room=1', { protocols: ['a', 'b'] });
    expect(client.protocol).toBe('b');
    expect(arrived()).toMatchObject({ url: '/base/ws?room=1' });
    expect(arrived().headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-api-key': 'configured-api-key-0123456789',
    });
    const received: Buffer[] = [];
    client.on('message', (data: Buffer) => received.push(data));
    const big = randomBytes(2_000_000);
    client.send('hello');
    client.send(big);
    await until('both are back', () => received.length === 2);
    expect(received[0]?.toString()).toBe('hello');
    expect(received[1]?.equals(big)).toBe(true);
    // Longer than the proxy's time-out of 400 ms: a tunnel may be silent.
    await new Promise((resolve) => setTimeout(resolve, 600));
    client.send('still there');
    await until('it is back', () => received.length === 3);
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.close(1000);
    await closed;
  });

  test("that the service refuses gets the service's answer, and one that fails the hub's [C9-websocket C9-failure]", async () => {
    await expect(connect(hub.url, '/proxy/wiki/refuse')).rejects.toThrow('refused with 418 no');
    await expect(connect(hub.url, '/proxy/dead/ws')).rejects.toThrow('refused with 502');
    await expect(connect(hub.url, '/proxy/nobody/ws')).rejects.toThrow('refused with 404');
    await expect(connect(hub.url, '/proxy/wiki/..%2fws')).rejects.toThrow('refused with 400');
  });

  test('does not hold up the end of the hub, which closes it', async () => {
    const ending = await startHub({ config: { proxies: proxiesOf(upstream.url) } });
    const client = await connect(ending.url, '/proxy/wiki/ws');
    client.on('error', () => {});
    const closed = new Promise((resolve) => client.once('close', resolve));
    expect((await ending.stop()).code).toBe(0);
    await closed;
  });

  test('needs credentials, and with a cookie alone the own origin [C4-upgrade-cross-site C9-websocket]', async () => {
    await expect(connect(guarded.url, '/proxy/wiki/ws')).rejects.toThrow('refused with 401');
    const bearer = { authorization: 'Bearer token-of-bert' };
    (await connect(guarded.url, '/proxy/wiki/ws', { headers: bearer })).terminate();
    const answer = await send(`${guarded.url}/proxy/wiki/a`, { headers: bearer });
    const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    await expect(connect(guarded.url, '/proxy/wiki/ws', { headers: { cookie } })).rejects.toThrow(
      'refused with 403',
    );
    const evil = { cookie, origin: 'https://evil.example' };
    await expect(connect(guarded.url, '/proxy/wiki/ws', { headers: evil })).rejects.toThrow(
      'refused with 403',
    );
    const own = { cookie, origin: guarded.url };
    (await connect(guarded.url, '/proxy/wiki/ws', { headers: own })).terminate();
    expect(arrived().headers.cookie).toBeUndefined();
  });
});

test('requests are counted by proxy at once, and each leaves a record of type proxy [C9-counts S6-proxy-events]', async () => {
  const { url, logs, stop } = await startHub({
    config: { proxies: proxiesOf(upstream.url), auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } } },
  });
  for (const path of ['/proxy/wiki/a?secret=1', '/proxy/wiki/b', '/proxy/dead/c', '/proxy/nobody/d'])
    await send(url + path);
  const headers = { 'x-admin-key': ADMIN_KEY };
  const usage = (await send(`${url}/admin/runtime/usage`, { headers })).json();
  expect(usage.proxies).toEqual([
    {
      id: 'wiki',
      requests: 2,
      errors: 0,
      statuses: { '200': 2 },
      latencyMs: expect.objectContaining({ avg: expect.any(Number) }),
    },
    { id: 'dead', requests: 1, errors: 1, statuses: { '502': 1 }, latencyMs: expect.anything() },
  ]);
  await send(`${url}/admin/runtime/reset`, { method: 'POST', headers });
  expect((await send(`${url}/admin/runtime/usage`, { headers })).json().proxies).toEqual([]);
  const records = await until('the records', () => {
    const found = logs().filter(({ module }) => module === 'proxy');
    return found.length >= 3 && found;
  });
  expect(records[0]).toMatchObject({
    level: 'info',
    proxy: 'wiki',
    method: 'GET',
    path: '/proxy/wiki/a',
    status: 200,
    caller: 'ip:127.0.0.1',
    requestId: expect.any(String),
    durationMs: expect.any(Number),
  });
  expect(records.find(({ level }) => level === 'error')).toMatchObject({ proxy: 'dead', status: 502 });
  expect(JSON.stringify(records)).not.toContain('secret=1');
  await stop();
});
