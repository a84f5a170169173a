import { describe, expect, test } from '@jest/globals';
import { clientOf, closedServers } from '../helpers/contract.ts';
import { BEARER } from '../helpers/contract-servers.ts';
import { ADMIN_KEY } from '../helpers/hub-process.ts';

const bearer = { authorization: `Bearer ${BEARER}` };
const chat = { model: 'echo', messages: [] };

describe.each(closedServers)('$name', (server) => {
  const ask = clientOf(server);
  /** The session cookie that a bearer gets, as a browser would send it back. */
  const signIn = async (): Promise<string> => {
    const answer = await ask('/v1/models', { headers: bearer });
    return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  };

  test('without credentials every protected path is 401, an unknown one and a wrong method too [C3-auth-first, C3-unauthorized, S7-main-401, S5.2-protected, C4-protected]', async () => {
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['POST', '/v1/chat/completions'],
      ['DELETE', '/v1/chat/completions'],
      ['GET', '/v1'],
      ['GET', '/v1/nothing'],
      ['GET', '/mcp/tools'],
      ['POST', '/mcp/invoke'],
      ['GET', '/mcp/nothing'],
      ['POST', '/mcp'],
    ] as const) {
      const answer = await ask(path, { method });
      expect([method, path, answer.status]).toEqual([method, path, 401]);
      expect(answer.json().error).toMatchObject({ code: 'unauthorized', type: 'authentication_error' });
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
  });

  test('what is public stays public [S5.2-public]', async () => {
    for (const path of ['/health', '/ready', '/admin/panel']) {
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
    }
    expect((await ask('/v1/chat/completions', { method: 'OPTIONS' })).status).toBe(204);
    expect((await ask('/nothing')).status).toBe(404);
  });

  test('the admin key is another matter than the bearer [S1-admin-independent]', async () => {
    expect((await ask('/admin/runtime', { headers: bearer })).status).toBe(401);
    expect((await ask('/v1/models', { headers: { 'x-admin-key': ADMIN_KEY } })).status).toBe(401);
    expect((await ask('/admin/runtime', { headers: { 'x-admin-key': ADMIN_KEY } })).status).toBe(200);
  });

  test('a good bearer is in, a bad one is not, even beside a good cookie [C2-auth-types, C2-auth-api-keys, C4-bearer-decides]', async () => {
    expect((await ask('/v1/chat/completions', { json: chat, headers: bearer })).status).toBe(200);
    const cookie = await signIn();
    expect((await ask('/v1/models', { headers: { authorization: 'Basic dXNlcjpwYXNz' } })).status).toBe(401);
    for (const authorization of ['Bearer wrong', 'Bearer ']) {
      const answer = await ask('/v1/models', { headers: { authorization, cookie } });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
    }
  });

  test('a bearer starts a session with a signed, opaque, HttpOnly cookie that lets in [C4-session-start, C4-cookie-attributes, C4-cookie-in, S5.1-bearer-or-cookie]', async () => {
    const answer = await ask('/v1/models', { headers: bearer });
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    const [pair = '', ...attributes] = cookie.split(/;\s*/);
    expect(pair).toMatch(/^hub\.sid=\S{22,}$/);
    expect(attributes.map((text) => text.toLowerCase())).toEqual(
      expect.arrayContaining(['httponly', 'samesite=lax', 'path=/']),
    );
    expect(attributes.map((text) => text.toLowerCase())).not.toContain('secure');
    expect(cookie).not.toContain(BEARER);

    const carried = await ask('/v1/models', { headers: { cookie: pair } });
    expect(carried.status).toBe(200);
    const again = await ask('/v1/models', { headers: { ...bearer, cookie: pair } });
    expect(again.headers['set-cookie']).toBeUndefined();
  });

  test('a bad cookie is 401 [C4-cookie-bad]', async () => {
    const cookie = await signIn();
    for (const bad of [`${cookie}x`, cookie.replace(/.$/, ''), 'hub.sid=', 'hub.sid=made-up', 'other=1']) {
      const answer = await ask('/v1/models', { headers: { cookie: bad } });
      expect([bad, answer.status]).toEqual([bad, 401]);
    }
  });

  test('a state-changing request by cookie alone needs the own origin [C4-cookie-cross-site]', async () => {
    const cookie = await signIn();
    const post = (headers: Record<string, string>) =>
      ask('/v1/chat/completions', { json: chat, headers: { cookie, ...headers } });
    for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await post(headers);
      expect([headers, answer.status]).toEqual([headers, 403]);
      expect(answer.json().error.code).toBe('cross_site');
    }
    expect((await post({ origin: server.url })).status).toBe(200);
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  test('signing out ends the session, and is 200 without one too [C4-logout]', async () => {
    const cookie = await signIn();
    const headers = { cookie, origin: server.url };
    const answer = await ask('/auth/logout', { method: 'POST', headers });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ success: true, message: expect.any(String) });
    expect((await ask('/v1/models', { headers: { cookie } })).status).toBe(401);
    expect((await ask('/auth/logout', { method: 'POST' })).status).toBe(200);
    expect((await ask('/auth/logout')).status).toBe(405);
  });
});
