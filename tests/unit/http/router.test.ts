import { afterEach, describe, expect, test } from '@jest/globals';
import { sendJson } from '../../../lib/http/json-response.ts';
import type { Route } from '../../../lib/http/route.ts';
import { createRouteTable } from '../../../lib/http/route-table.ts';
import { send, sendRaw } from '../../helpers/http.ts';
import { bearerOnly, closeServers, group, serve } from './serve.ts';

const answer =
  (name: string): Route['handler'] =>
  (request, response) =>
    sendJson(response, 200, { name, method: request.method, params: request.params });

const groups = [
  group(
    { method: 'POST', path: '/v1/chat', handler: answer('chat') },
    { method: 'GET', path: '/v1/models', handler: answer('models') },
    { method: 'GET', path: '/v1/models/:id', handler: answer('model') },
    { method: 'GET', path: '/v1/callback', access: 'public', handler: answer('callback') },
  ),
  {
    name: 'proxy',
    prefixes: [{ path: '/proxy', access: 'main' as const }],
    routes: [
      {
        method: 'ALL' as const,
        path: '/proxy/*rest',
        access: (request: { url?: string | undefined }) =>
          request.url?.startsWith('/proxy/open/') === true ? ('public' as const) : ('main' as const),
        handler: answer('proxy'),
      },
    ],
  },
  {
    name: 'health',
    prefixes: [],
    routes: [
      { method: 'GET' as const, path: '/health', access: 'public' as const, handler: answer('health') },
    ],
  },
  {
    name: 'admin',
    prefixes: [{ path: '/admin', access: 'admin' as const }],
    routes: [{ method: 'GET' as const, path: '/admin/runtime', handler: answer('runtime') }],
  },
];

const locked = { deps: { authenticator: bearerOnly } };
const good = { authorization: 'Bearer good' };

afterEach(closeServers);

describe('paths and methods', () => {
  test('an unknown path is 404 not_found [C3-not-found]', async () => {
    const { url } = await serve(groups);
    const { status, json } = await send(`${url}/nothing`);
    expect([status, json().error.code, json().error.type]).toEqual([404, 'not_found', 'not_found_error']);
  });

  test('a known path with the wrong method is 405 with Allow [C3-method-not-allowed]', async () => {
    const { url } = await serve(groups);
    const { status, headers, json } = await send(`${url}/v1/models`, { method: 'DELETE' });
    expect([status, json().error.code, headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, OPTIONS',
    ]);
  });

  test('OPTIONS on a known path is 204 with Allow and needs no credentials [C3-options]', async () => {
    const { url } = await serve(groups, locked);
    const known = await send(`${url}/v1/chat`, { method: 'OPTIONS' });
    expect([known.status, known.headers.allow, known.text]).toEqual([204, 'POST, OPTIONS', '']);
    expect((await send(`${url}/v1/other`, { method: 'OPTIONS' })).status).toBe(401);
  });

  test('OPTIONS reaches a route for all methods only from whoever may use it', async () => {
    const { url } = await serve(groups, locked);
    const stranger = await send(`${url}/proxy/x`, { method: 'OPTIONS' });
    expect([stranger.status, stranger.headers.allow]).toEqual([
      204,
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    ]);
    const user = await send(`${url}/proxy/x`, { method: 'OPTIONS', headers: good });
    expect([user.status, user.json().method]).toEqual([200, 'OPTIONS']);
  });

  test('HEAD answers as GET without a body [C3-head]', async () => {
    const { url } = await serve(groups);
    const get = await send(`${url}/health`);
    const head = await send(`${url}/health`, { method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-type']]).toEqual([
      200,
      '',
      get.headers['content-type'],
    ]);
    expect((await send(`${url}/v1/chat`, { method: 'HEAD' })).status).toBe(405);
    expect((await send(`${url}/nothing`, { method: 'HEAD' })).text).toBe('');
  });

  test('a trailing slash, a query, an encoded letter and an absolute target find the same route', async () => {
    const { url } = await serve(groups);
    for (const path of ['/v1/models/', '/v1/models?a=1', '/v1/%6dodels', '/v1/models/?x']) {
      expect((await send(url + path)).json().name).toBe('models');
    }
    const raw = await sendRaw(
      url,
      `GET http://${new URL(url).host}/v1/models?a HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n\r\n`,
    );
    expect(raw).toContain('"name":"models"');
  });

  test('parameters are decoded, the rest of a path is a list', async () => {
    const { url } = await serve(groups);
    expect((await send(`${url}/v1/models/a%2Fb%20c`)).json().params).toEqual({ id: 'a/b c' });
    expect((await send(`${url}/proxy/x//y/`)).json().params).toEqual({ rest: ['x', '', 'y'] });
    expect((await send(`${url}/proxy`)).json().params).toEqual({ rest: [] });
  });

  test('malformed percent-encoding is 400, never 500 [C3-invalid-request]', async () => {
    const { url } = await serve(groups);
    for (const path of ['/v1/models/%', '/v1/%zz', '/%ff', '/proxy/%c0%af']) {
      const { status, json } = await send(url + path);
      expect([path, status, json().error.code]).toEqual([path, 400, 'invalid_request']);
    }
  });
});

describe('credentials come first', () => {
  test('under a protected prefix even an unknown path or a wrong method is 401 [C3-auth-first C3-unauthorized]', async () => {
    const { url } = await serve(groups, locked);
    for (const [method, path] of [
      ['GET', '/v1'],
      ['GET', '/v1/'],
      ['GET', '/v1/nothing'],
      ['GET', '/v1/%zz'],
      ['DELETE', '/v1/chat'],
      ['POST', '/v1/chat'],
      ['PROPFIND', '/v1/chat'],
    ] as const) {
      const { status, headers, json } = await send(url + path, { method });
      expect([path, status, json().error.code, headers['www-authenticate']]).toEqual([
        path,
        401,
        'unauthorized',
        'Bearer',
      ]);
    }
    expect((await send(`${url}/v1/nothing`, { headers: good })).status).toBe(404);
    expect((await send(`${url}/v1/%zz`, { headers: good })).status).toBe(400);
    expect((await send(`${url}/v1/chat`, { headers: good, method: 'DELETE' })).status).toBe(405);
  });

  test.each([
    '/V1/chat',
    '//v1/chat',
    '/v1//chat',
    '/./v1/chat',
    '/health/../v1/chat',
    '/v1/../health',
    '/%76%31/chat',
    '/v1%2Fchat',
    '/%2e%2e/v1/chat',
    '/x/%2e%2e/v1/chat',
    '/v1/callback/..',
    '/v1/callback//',
    '/V1/callback',
    '/v1\\callback',
    '/v1;a/chat/../../v1',
    '/Proxy/open/x',
  ])('the spelling %s does not slip past authentication [C3-auth-first]', async (path) => {
    const { url } = await serve(groups, locked);
    const raw = await sendRaw(url, `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(raw).toMatch(/^HTTP\/1\.1 401 /);
    expect(raw).not.toContain('"name"');
  });

  test('a route below a protected prefix may be public, and only that route [C4-protected]', async () => {
    const { url } = await serve(groups, locked);
    expect((await send(`${url}/v1/callback`)).json().name).toBe('callback');
    expect((await send(`${url}/v1/callback`, { method: 'POST' })).status).toBe(405);
    expect((await send(`${url}/v1/callback/more`)).status).toBe(401);
  });

  test('a route may decide its access per request [C4-protected]', async () => {
    const { url } = await serve(groups, locked);
    expect((await send(`${url}/proxy/open/x`)).json().name).toBe('proxy');
    expect((await send(`${url}/proxy/closed/x`)).status).toBe(401);
  });

  test('without a guard every admin path is 403', async () => {
    const { url } = await serve(groups, locked);
    for (const path of ['/admin/runtime', '/admin/nothing', '/ADMIN/runtime']) {
      const { status, json } = await send(url + path, { headers: good });
      expect([status, json().error.code]).toEqual([403, 'admin_forbidden']);
    }
  });
});

describe('building the table', () => {
  const handler = answer('x');
  test('a route without access, and a second route for the same path, fail at start', () => {
    expect(() =>
      createRouteTable([{ name: 'x', prefixes: [], routes: [{ method: 'GET', path: '/open', handler }] }]),
    ).toThrow('has no access');
    expect(() =>
      createRouteTable([
        group({ method: 'GET', path: '/v1/:a', handler }, { method: 'GET', path: '/v1/:b', handler }),
      ]),
    ).toThrow('Two routes');
  });

  test('the narrower path wins, and a broader one answers what it lacks', () => {
    const table = createRouteTable([
      group(
        { method: 'DELETE', path: '/v1/*all', handler },
        { method: 'GET', path: '/v1/:id', handler: answer('id') },
        { method: 'POST', path: '/v1/fixed', handler: answer('fixed') },
      ),
    ]);
    const endpoint = table.find('/v1/fixed');
    expect(endpoint?.allow).toBe('POST, GET, HEAD, DELETE, OPTIONS');
    expect(table.find('/v1/a/b')?.allow).toBe('DELETE, OPTIONS');
    expect(table.find('/v1/a')?.params).toEqual({ id: 'a', all: ['a'] });
  });
});
