import { afterEach, describe, expect, test } from '@jest/globals';
import { send } from '../../helpers/http.ts';
import { closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

const raw = [
  ['set-cookie', 'a=1'],
  ['set-cookie', 'b=2'],
  ['Vary', 'Accept'],
  ['Via', '1.1 x'],
  ['via', '1.1 y'],
].flat();

const groups = [
  group(
    {
      method: 'GET',
      path: '/v1/raw',
      handler: (_request, response) => void response.writeHead(200, raw).end('ok'),
    },
    {
      method: 'GET',
      path: '/v1/mixed',
      handler(_request, response) {
        response.setHeader('x-early', 'yes');
        response.writeHead(200, 'Fine', raw).end('ok');
      },
    },
    {
      method: 'GET',
      path: '/v1/express',
      handler: (_request, response) => void response.json({ fine: true }),
    },
    {
      method: 'GET',
      path: '/v1/own',
      handler(request, response) {
        const headers = { 'Content-Security-Policy': "default-src 'none'", 'X-Request-Id': 'upstream' };
        if (request.query.raw === undefined) response.set(headers).end('ok');
        else response.writeHead(200, headers).end('ok');
      },
    },
    {
      method: 'GET',
      path: '/v1/bare',
      handler: (_request, response) => void response.end('ok'),
    },
  ),
];

const SECURITY = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

describe('headers of every response', () => {
  test.each(['/v1/raw', '/v1/mixed', '/v1/express', '/v1/bare', '/v1/nothing', '/nothing'])(
    '%s carries the security headers and a request id, and does not name Express [C3-security-headers C3-request-id C3-no-powered-by]',
    async (path) => {
      const { url } = await serve(groups);
      const { headers } = await send(url + path);
      expect(headers).toMatchObject(SECURITY);
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}-[0-9a-z]+$/);
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers.etag).toBeUndefined();
      expect(headers['strict-transport-security']).toBeUndefined();
    },
  );

  test('HSTS is sent with TLS [C3-hsts]', async () => {
    const { url } = await serve(groups, { tls: true });
    expect((await send(`${url}/v1/raw`)).headers['strict-transport-security']).toMatch(/^max-age=\d{8}/);
  });

  test.each(['/v1/raw', '/v1/mixed'])('repeated headers of %s all leave', async (path) => {
    const { url } = await serve(groups);
    const { headers, rawHeaders } = await send(url + path);
    expect(headers['set-cookie']).toEqual(['a=1', 'b=2']);
    expect(rawHeaders.filter((name) => name.toLowerCase() === 'via')).toHaveLength(2);
    expect(rawHeaders.filter((name) => name.toLowerCase() === 'x-request-id')).toHaveLength(1);
  });

  test.each(['/v1/own', '/v1/own?raw'])(
    'on %s the policy of a route replaces the common one, and the request id is always the hub’s',
    async (path) => {
      const { url } = await serve(groups);
      const { headers } = await send(url + path, { headers: { 'x-request-id': 'mine' } });
      expect(headers['content-security-policy']).toBe("default-src 'none'");
      expect(headers['x-request-id']).toBe('mine');
    },
  );

  test.each(['mine', '01J9Z8K7-trace:5/a=b', 'a'.repeat(128), 'content-type'])(
    'a sane inbound request id is kept: %s [C3-request-id-kept]',
    async (id) => {
      const { url } = await serve(groups);
      const { headers } = await send(`${url}/v1/express`, { headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toBe(id);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    },
  );

  test.each(['', 'two words', 'a,b', 'a'.repeat(129), '"quoted"', '<b>', 'caf\u00e9'])(
    'another inbound request id is replaced: %j [C3-request-id-kept]',
    async (id) => {
      const { url } = await serve(groups);
      const { headers } = await send(`${url}/v1/bare`, { headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}-[0-9a-z]+$/);
    },
  );

  test.each(['/v1/raw', '/v1/mixed', '/v1/express'])(
    'a session cookie and Vary stand beside those of %s',
    async (path) => {
      const { url } = await serve(groups, {
        corsOrigins: ['https://app.example'],
        deps: {
          authenticator: {
            authenticate(_request, context) {
              context.setCookie = 'hub.sid=1';
              return context.caller;
            },
          },
        },
      });
      const { headers } = await send(url + path);
      const routes = path === '/v1/express' ? [] : ['a=1', 'b=2'];
      expect(headers['set-cookie']?.sort()).toEqual([...routes, 'hub.sid=1']);
      expect(headers.vary).toBe(path === '/v1/express' ? 'Origin' : 'Accept, Origin');
    },
  );

  test('a request id that is the name of a header costs no header', async () => {
    const { url } = await serve(groups);
    const { headers } = await send(`${url}/v1/raw`, { headers: { 'x-request-id': 'via' } });
    expect([headers['x-request-id'], headers.via]).toEqual(['via', '1.1 x, 1.1 y']);
  });

  test('fresh request ids differ', async () => {
    const { url } = await serve(groups);
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(`${url}/v1/bare`)));
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(5);
  });
});
