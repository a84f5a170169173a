import { createHmac, randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, type SendOptions, send, sendRaw } from '../helpers/http.ts';
import { type IdentityApi, startIdentityApi } from '../helpers/identity-api.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

const SECRET = 'session-secret-0123456789-abcdefghijkl';
const chat = { model: 'echo', messages: [{ role: 'user', content: 'hello' }] };

let identity: IdentityApi;
let hub: HubProcess;
let serial = 0;
/** A token of its own for each test: what one test cached is nothing to the next. */
const freshUser = () => {
  serial += 1;
  return `user-${serial}`;
};

beforeAll(async () => {
  identity = await startIdentityApi();
  hub = await startHub({
    config: {
      hub: { security: { trustProxy: '127.0.0.1' } },
      targets: [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }],
      auth: {
        enabled: true,
        type: 'edapi',
        edapi_url: identity.url,
        timeout: 500,
        session: { store: 'memory', cookie: { secret: SECRET, name: 'test.sid' } },
      },
    },
    env: { HUB_HOST: '127.0.0.1' },
  });
});
beforeEach(() => {
  identity.calls.length = 0;
  identity.answer = undefined;
});

const ask = (options: SendOptions = {}, path = '/v1/models') => send(hub.url + path, options);
const bearer = (user: string) => ({ authorization: `Bearer token-of-${user}` });
const problem = (answer: Answer) => [answer.status, answer.json().error.code];

async function sessionOf(user: string): Promise<string> {
  const { headers } = await ask({ headers: bearer(user) });
  return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}

describe('a bearer token', () => {
  test('is checked by GET edapi_url with itself, and its identity is who calls [S2.2-enabled S2.2-type S2.2-edapi-url S5.1-identity-api C4-edapi-call C4-edapi-identity]', async () => {
    const user = freshUser();
    const answer = await ask({ headers: { ...bearer(user), cookie: 'other=1' } });
    expect(answer.status).toBe(200);
    expect(identity.calls).toEqual([
      {
        method: 'GET',
        url: '/api/me?fields=id',
        authorization: `Bearer token-of-${user}`,
        cookie: undefined,
      },
    ]);
    await until('its access record', () =>
      hub.logs().find(({ message, caller }) => message === 'request' && caller === user),
    );
  });

  test.each([
    [{ sub: 'sub-1' }, 'sub-1'],
    [{ user_id: 42 }, '42'],
    [{ username: 'anna' }, 'anna'],
    [{ username: 'anna', id: 'id-1', sub: 'sub-1' }, 'id-1'],
  ])(
    'stands for the id, sub, user_id or username of the answer: %j is %s [C4-edapi-identity]',
    async (body, id) => {
      identity.answer = (_request, response) => response.end(JSON.stringify(body));
      const { headers, status } = await ask({ headers: bearer(freshUser()) });
      expect(status).toBe(200);
      const requestId = headers['x-request-id'];
      const record = await until('its record', () =>
        hub.logs().find((one) => one.requestId === requestId && one.message === 'request'),
      );
      expect(record.caller).toBe(id);
    },
  );

  test.each([401, 403])(
    'that the identity API answers with %i is refused [S7-main-401 C4-edapi-refused]',
    async (status) => {
      identity.answer = (_request, response) => response.writeHead(status).end('no');
      const answer = await ask({ headers: bearer(freshUser()) });
      expect(problem(answer)).toEqual([401, 'unauthorized']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(answer.headers['set-cookie']).toBeUndefined();
    },
  );

  test.each<[string, NonNullable<IdentityApi['answer']>]>([
    ['500', (_request, response) => response.writeHead(500).end('{"id":"x"}')],
    ['404', (_request, response) => response.writeHead(404).end('{"id":"x"}')],
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/login' }).end()],
    ['an empty 204', (_request, response) => response.writeHead(204).end()],
    ['a page', (_request, response) => response.end('<html>login</html>')],
    ['a list', (_request, response) => response.end('[{"id":"x"}]')],
    ['null', (_request, response) => response.end('null')],
    ['an object without an identity', (_request, response) => response.end('{"name":"x"}')],
    [
      'an id that is cut when kept',
      (_request, response) => response.end(JSON.stringify({ id: 'x'.repeat(257) })),
    ],
    ['a number past what can be told apart', (_request, response) => response.end('{"id":9007199254740993}')],
    [
      'an endless body',
      (_request, response) => void response.write('{"id":"x","pad":"'.padEnd(300_000, 'x')),
    ],
    ['silence', () => {}],
    ['half an answer', (_request, response) => void response.write('{"id":')],
    ['a reset', (request) => request.socket.destroy()],
  ])(
    'is 503 and never let in when the identity API gives %s [C4-edapi-unavailable C2-auth-times]',
    async (_name, answer) => {
      identity.answer = answer;
      const headers = bearer(freshUser());
      const refused = await ask({ headers });
      expect(problem(refused)).toEqual([503, 'identity_unavailable']);
      expect(refused.headers['retry-after']).toBeDefined();
      // A doubt is not remembered.
      identity.answer = undefined;
      expect((await ask({ headers })).status).toBe(200);
    },
  );

  test('makes one identity call for fifty requests at once [C4-single-flight]', async () => {
    const headers = bearer(freshUser());
    identity.answer = (_request, response) => void setTimeout(() => response.end('{"id":"many"}'), 100);
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask({ headers })));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(identity.calls).toHaveLength(1);
    const cookies = new Set(answers.map((answer) => answer.headers['set-cookie']?.[0]));
    expect(cookies.size).toBe(1);
  });

  test('that was accepted is not asked about again, nor one that was refused [C4-cache-positive C4-cache-negative]', async () => {
    const headers = bearer(freshUser());
    for (let turn = 0; turn < 3; turn += 1) expect((await ask({ headers })).status).toBe(200);
    const wrong = { authorization: 'Bearer wrong' };
    for (let turn = 0; turn < 3; turn += 1) expect((await ask({ headers: wrong })).status).toBe(401);
    expect(identity.calls).toHaveLength(2);
  });

  test.each(['Bearer', 'Bearer ', 'Bearer a b', 'bearer\ta', 'Basic YTpi', 'token-of-x'])(
    'that is none (%j) is 401 and asks nobody [S7-main-401]',
    async (authorization) => {
      expect(problem(await ask({ headers: { authorization } }))).toEqual([401, 'unauthorized']);
      expect(identity.calls).toHaveLength(0);
    },
  );

  test('may be named in any case', async () => {
    expect((await ask({ headers: { authorization: `BEARER token-of-${freshUser()}` } })).status).toBe(200);
  });
});

describe('a session', () => {
  test('begins with a bearer and lets its cookie in alone [S2.2-session-store S2.2-cookie-secret S5.1-bearer-or-cookie S5.1-session-store C4-session-start C4-cookie-in]', async () => {
    const user = freshUser();
    const cookie = await sessionOf(user);
    expect(cookie).toMatch(/^test\.sid=[\w-]{22,}\.[\w-]{43}$/);
    const { status, headers } = await ask({ headers: { cookie: `a=b; ${cookie}; c=d` } });
    expect(status).toBe(200);
    expect(headers['set-cookie']).toBeUndefined();
    const requestId = headers['x-request-id'];
    const record = await until('its record', () =>
      hub.logs().find((one) => one.requestId === requestId && one.message === 'request'),
    );
    expect(record.caller).toBe(user);
  });

  test('is one for a token, told only to a request that lacks its cookie [C4-session-start C4-session-reuse]', async () => {
    const user = freshUser();
    const cookie = await sessionOf(user);
    const again = await ask({ headers: bearer(user) });
    expect(again.headers['set-cookie']?.[0]).toContain(`${cookie};`);
    const with_ = await ask({ headers: { ...bearer(user), cookie } });
    expect(with_.headers['set-cookie']).toBeUndefined();
    expect(await sessionOf(freshUser())).not.toBe(cookie);
  });

  test('has a cookie that no script and no other site can use, Secure where TLS is [C4-cookie-attributes C2-session-keys]', async () => {
    const [plain] = (await ask({ headers: bearer(freshUser()) })).headers['set-cookie'] ?? [];
    expect(plain?.split('; ').slice(1)).toEqual(['Max-Age=28800', 'Path=/', 'HttpOnly', 'SameSite=Lax']);
    const [secure] =
      (await ask({ headers: { ...bearer(freshUser()), 'x-forwarded-proto': 'https' } })).headers[
        'set-cookie'
      ] ?? [];
    expect(secure?.split('; ').slice(1)).toContain('Secure');
  });

  test('is 401 with a cookie that is forged, cut, of another secret or empty [C4-cookie-bad]', async () => {
    const cookie = await sessionOf(freshUser());
    const [id = '', signature = ''] = cookie.slice('test.sid='.length).split('.');
    // The last character carries four bits; the two beside them are nothing to a lenient base64 decoder.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const withLast = (change: number) =>
      cookie.slice(0, -1) + alphabet[alphabet.indexOf(cookie.at(-1) ?? '') ^ change];
    const forged = [
      `test.sid=${'A'.repeat(43)}.${signature}`,
      withLast(0b000100),
      withLast(0b000001),
      `${cookie}=`,
      cookie.slice(0, -5),
      `test.sid=${id}`,
      'test.sid=',
      'test.sid=.',
      `TEST.SID=${cookie.slice(9)}`,
    ];
    for (const one of forged) {
      expect([one, ...problem(await ask({ headers: { cookie: one } }))]).toEqual([one, 401, 'unauthorized']);
    }
    expect((await ask({ headers: { cookie } })).status).toBe(200);
  });

  test('cannot be made up, not even by whoever knows the secret: an id that was never given out is 401 [C4-cookie-bad]', async () => {
    const id = randomBytes(32).toString('base64url');
    const signature = createHmac('sha256', SECRET).update(id).digest('base64url');
    const cookie = `test.sid=${id}.${signature}`;
    expect(problem(await ask({ headers: { cookie } }))).toEqual([401, 'unauthorized']);
  });

  test('beside a bearer decides nothing [C4-bearer-decides]', async () => {
    const cookie = await sessionOf(freshUser());
    const both = { cookie, authorization: 'Bearer wrong' };
    expect(problem(await ask({ headers: both }))).toEqual([401, 'unauthorized']);
    const other = freshUser();
    const { headers } = await ask({ headers: { ...bearer(other), cookie } });
    const record = await until('its record', () =>
      hub.logs().find((one) => one.requestId === headers['x-request-id'] && one.message === 'request'),
    );
    expect(record.caller).toBe(other);
  });

  test('alone changes state only for pages of the hub itself [C4-cookie-cross-site]', async () => {
    const cookie = await sessionOf(freshUser());
    const post = (headers: Record<string, string>) =>
      ask({ json: chat, headers: { cookie, ...headers } }, '/v1/chat/completions');
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of foreign) {
      expect([headers, ...problem(await post(headers))]).toEqual([headers, 403, 'cross_site']);
    }
    expect((await post({ origin: hub.url })).status).toBe(200);
    expect((await post({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    // A bearer is never sent by a browser alone.
    const user = freshUser();
    const headers = { ...bearer(user), origin: 'https://evil.example' };
    expect((await ask({ json: chat, headers }, '/v1/chat/completions')).status).toBe(200);
  });

  test('is ended by POST /auth/logout, also for its bearer [C4-logout]', async () => {
    const user = freshUser();
    const cookie = await sessionOf(user);
    const out = await ask({ method: 'POST', headers: { cookie, origin: hub.url } }, '/auth/logout');
    expect([out.status, out.json()]).toEqual([200, { success: true, message: 'Signed out' }]);
    expect(out.headers['set-cookie']?.[0]).toMatch(/^test\.sid=; Max-Age=0; Path=\/; HttpOnly/);
    expect(problem(await ask({ headers: { cookie } }))).toEqual([401, 'unauthorized']);
    const post = { json: chat, headers: { cookie } };
    expect(problem(await ask(post, '/v1/chat/completions'))).toEqual([401, 'unauthorized']);
    // The token itself is still good, and begins another session.
    const next = await sessionOf(user);
    expect(next).not.toBe(cookie);
    expect((await ask({ method: 'POST', headers: bearer(user) }, '/auth/logout')).json().message).toBe(
      'Signed out',
    );
    expect((await ask({ headers: { cookie: next } })).status).toBe(401);
  });

  test('that does not exist can be ended too, but no other site ends one [C4-logout C4-cookie-cross-site]', async () => {
    for (const headers of [{}, { cookie: 'test.sid=nonsense' }, { authorization: 'Bearer nobody' }]) {
      const out = await ask({ method: 'POST', headers }, '/auth/logout');
      expect([out.status, out.json().success]).toEqual([200, true]);
    }
    const cookie = await sessionOf(freshUser());
    const evil = await ask(
      { method: 'POST', headers: { cookie, origin: 'https://evil.example' } },
      '/auth/logout',
    );
    expect(problem(evil)).toEqual([403, 'cross_site']);
    expect((await ask({ headers: { cookie } })).status).toBe(200);
  });

  test('carries a WebSocket upgrade only for pages of the hub itself [C4-upgrade-cross-site]', async () => {
    const cookie = await sessionOf(freshUser());
    const upgrade = (...lines: string[]) =>
      sendRaw(
        hub.url,
        `${['GET /v1/nothing HTTP/1.1', 'Host: hub', 'Connection: Upgrade', 'Upgrade: websocket', ...lines].join('\r\n')}\r\n\r\n`,
      );
    expect(await upgrade()).toMatch(/^HTTP\/1.1 401 [\s\S]*"unauthorized"/);
    expect(await upgrade(`Cookie: ${cookie}`)).toMatch(/^HTTP\/1.1 403 [\s\S]*"cross_site"/);
    expect(await upgrade(`Cookie: ${cookie}`, 'Origin: https://evil.example')).toMatch(/^HTTP\/1.1 403 /);
    expect(await upgrade(`Cookie: ${cookie}`, 'Origin: http://hub')).toMatch(/^HTTP\/1.1 404 /);
  });
});

test('what happens at the door is logged, without the token or the cookie [S6-auth-events]', async () => {
  const user = freshUser();
  const cookie = await sessionOf(user);
  await ask({ headers: { authorization: 'Bearer a-wrong-secret-token' } });
  await ask({ method: 'POST', headers: { cookie } }, '/auth/logout');
  const auth = () => hub.logs().filter(({ module }) => module === 'auth');
  await until('the end', () =>
    auth().find(({ message, caller }) => message === 'A session was ended' && caller === user),
  );
  expect(auth()).toContainEqual(
    expect.objectContaining({ level: 'warn', message: 'Authentication failed', clientIp: '127.0.0.1' }),
  );
  expect(auth()).toContainEqual(expect.objectContaining({ message: 'A session was begun', caller: user }));
  const text = hub.stdout() + hub.stderr();
  for (const secret of ['a-wrong-secret-token', `token-of-${user}`, cookie.slice(9), SECRET]) {
    expect(text).not.toContain(secret);
  }
});
