import { describe, expect, test } from '@jest/globals';
import { clientOf, servers } from '../helpers/contract.ts';
import { ALLOWED_ORIGIN } from '../helpers/contract-servers.ts';
import { ADMIN_KEY } from '../helpers/hub-process.ts';

const admin = { 'x-admin-key': ADMIN_KEY };

describe.each(servers)('$name', (server) => {
  const ask = clientOf(server);

  test.each([
    ['an answer', '/health', {}],
    ['an error', '/nothing', {}],
    ['a refusal', '/admin/runtime', {}],
    ['an admin answer', '/admin/config', admin],
    ['a page', '/admin/panel', {}],
  ])(
    '%s carries the security headers [C3-security-headers, C3-no-powered-by]',
    async (_what, path, headers) => {
      const answer = await ask(path, { headers });
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
      expect(answer.headers['content-security-policy']).toMatch(/frame-ancestors 'none'/);
      expect(answer.headers['referrer-policy']).toBe('no-referrer');
      expect(answer.headers['x-powered-by']).toBeUndefined();
      expect(answer.headers['strict-transport-security']).toBeUndefined();
    },
  );

  test('each answer has a request id of its own [C3-request-id]', async () => {
    const ids = new Set<unknown>();
    for (const path of ['/health', '/health', '/nothing', '/admin/runtime', '/v1/models']) {
      const { headers } = await ask(path);
      expect(headers['x-request-id']).toMatch(/^[\w.-]{8,}$/);
      ids.add(headers['x-request-id']);
    }
    expect(ids.size).toBe(5);
  });

  test('a sane inbound request id is kept [C3-request-id-kept]', async () => {
    for (const id of ['abc-123_DEF.9', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6']) {
      const { headers } = await ask('/nothing', { headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toBe(id);
    }
  });

  test.each([
    ['too long', 'x'.repeat(500)],
    ['with spaces', 'a b'],
    ['with markup', '<script>'],
    ['empty', ''],
  ])('an inbound request id that is %s is replaced [C3-request-id-kept]', async (_what, id) => {
    const { headers } = await ask('/nothing', { headers: { 'x-request-id': id } });
    expect(headers['x-request-id']).toMatch(/^[\w.-]{8,}$/);
    expect(headers['x-request-id']).not.toBe(id);
  });

  test('HEAD answers as GET without a body [C3-head]', async () => {
    for (const [path, headers] of [
      ['/health', {}],
      ['/nothing', {}],
      ['/admin/runtime', {}],
      ['/admin/config', admin],
    ] as const) {
      const get = await ask(path, { headers });
      const head = await ask(path, { method: 'HEAD', headers });
      expect([path, head.status]).toEqual([path, get.status]);
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
      expect(head.body.length).toBe(0);
    }
  });

  test.each([
    ['/health', 'GET, HEAD, OPTIONS'],
    ['/mcp/invoke', 'OPTIONS, POST'],
    ['/v1/chat/completions', 'OPTIONS, POST'],
    ['/admin/runtime', 'GET, HEAD, OPTIONS'],
    ['/admin/runtime/reset', 'OPTIONS, POST'],
  ])('OPTIONS on %s is 204 with Allow, without credentials [C3-options]', async (path, allowed) => {
    const answer = await ask(path, { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(answer.headers.allow?.split(/,\s*/).sort().join(', ')).toBe(allowed);
    expect(answer.body.length).toBe(0);
  });

  test('OPTIONS on an unknown path is no 204 [C3-options]', async () => {
    expect((await ask('/nothing', { method: 'OPTIONS' })).status).toBe(404);
    expect((await ask('/admin/nothing', { method: 'OPTIONS' })).status).toBe(401);
  });

  test('a preflight of a listed origin is answered [C2-cors]', async () => {
    const answer = await ask('/v1/chat/completions', {
      method: 'OPTIONS',
      headers: {
        origin: ALLOWED_ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type, x-target',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe(ALLOWED_ORIGIN);
    expect(answer.headers['access-control-allow-methods']).toMatch(/POST/);
    expect(answer.headers['access-control-allow-headers']?.toLowerCase()).toMatch(/x-target/);
    expect(answer.headers.vary?.toLowerCase()).toMatch(/origin/);
  });

  test('an answer to a listed origin may be read by its pages [C2-cors, C4-cors-passes]', async () => {
    const answer = await ask('/v1/models', { headers: { origin: ALLOWED_ORIGIN } });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(ALLOWED_ORIGIN);
    expect(answer.headers['access-control-expose-headers']?.toLowerCase()).toMatch(/x-request-id/);
  });

  test('a foreign origin is refused while authentication is off, and told no CORS header [C4-origin-while-off, C2-cors]', async () => {
    for (const path of ['/v1/models', '/mcp/tools']) {
      const answer = await ask(path, { headers: { origin: 'https://evil.example' } });
      expect([path, answer.status]).toEqual([path, 403]);
      expect(answer.json().error).toMatchObject({ code: 'cross_site', type: 'permission_error' });
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    const preflight = await ask('/v1/models', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
    });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  });

  test("the hub's own origin passes [C4-origin-while-off]", async () => {
    const answer = await ask('/v1/models', { headers: { origin: server.url } });
    expect(answer.status).toBe(200);
  });

  test('a Host that is not this machine is refused on a loopback bind [C4-host-while-off]', async () => {
    for (const host of ['evil.example', 'evil.example:3000', '127.0.0.1.evil.example']) {
      const answer = await ask('/v1/models', { headers: { host } });
      expect([host, answer.status]).toEqual([host, 403]);
      expect(answer.json().error.code).toBe('cross_site');
    }
    const local = await ask('/v1/models', { headers: { host: `localhost:${new URL(server.url).port}` } });
    expect(local.status).toBe(200);
  });
});
