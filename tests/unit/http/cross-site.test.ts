import { afterEach, describe, expect, test } from '@jest/globals';
import { sendJson } from '../../../lib/http/json-response.ts';
import type { RouteHandler } from '../../../lib/http/route.ts';
import { send } from '../../helpers/http.ts';
import { bearerOnly, closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

const handler: RouteHandler = (_request, response) => sendJson(response, 200, {});
const groups = [
  group(
    { method: 'POST', path: '/v1/chat', handler },
    { method: 'GET', path: '/v1/page', access: 'public', handler },
  ),
];
const APP = 'https://app.example.org';

async function status(url: string, headers: Record<string, string>, path = '/v1/chat'): Promise<unknown> {
  const answer = await send(url + path, { method: path === '/v1/chat' ? 'POST' : 'GET', headers });
  return answer.status === 200 ? 200 : [answer.status, answer.json().error.code];
}
const REFUSED = [403, 'cross_site'];

describe('while authentication is off', () => {
  test('a foreign Origin is refused, the own one and none pass [C4-origin-while-off]', async () => {
    const { url } = await serve(groups);
    const { port } = new URL(url);
    expect(await status(url, {})).toBe(200);
    expect(await status(url, { origin: url })).toBe(200);
    for (const origin of [
      'http://evil.example',
      'null',
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
      'http://127.0.0.1:1',
      'http://127.0.0.1',
      '',
    ]) {
      expect([origin, await status(url, { origin })]).toEqual([origin, REFUSED]);
    }
    expect(await status(url, { origin: 'http://evil.example' }, '/v1/page')).toBe(200);
  });

  test('a cross-site request without Origin is refused unless somebody followed a link', async () => {
    const { url } = await serve(groups);
    expect(await status(url, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).toEqual(
      REFUSED,
    );
    expect(await status(url, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).toBe(200);
    expect(await status(url, { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' })).toBe(200);
  });

  test('on a loopback bind only names of this machine are a Host [C4-host-while-off]', async () => {
    const { url } = await serve(groups);
    for (const host of [
      'localhost',
      'LocalHost:3000',
      'localhost.:3000',
      'hub.localhost',
      '127.0.0.1:1',
      '127.9.9.9',
      '[::1]:3000',
      '[::ffff:7f00:1]:3000',
    ]) {
      expect([host, await status(url, { host })]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example:3000',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '10.0.0.1',
      '[::2]',
      'evil.example:127.0.0.1',
    ]) {
      expect([host, await status(url, { host })]).toEqual([host, REFUSED]);
      expect(await status(url, { host, origin: `http://${host}` })).toEqual(REFUSED);
    }
    expect(await status(url, { host: 'evil.example' }, '/v1/page')).toBe(200);
  });

  test('the public name is a Host and an origin of the hub [C4-host-while-off, C4-origin-while-off]', async () => {
    const { url } = await serve(groups, { publicUrl: 'https://hub.example.org/' });
    const host = 'hub.example.org';
    expect(await status(url, { host, origin: 'https://hub.example.org' })).toBe(200);
    expect(await status(url, { host: 'HUB.example.org' })).toBe(200);
    expect(await status(url, { host: 'hub.example.org.evil.example' })).toEqual(REFUSED);
    expect(await status(url, { host, origin: 'http://hub.example.org' })).toEqual(REFUSED);
    expect(await status(url, { origin: url })).toBe(200);
  });

  test('on another bind, and where none is, any Host passes but a foreign Origin does not', async () => {
    for (const bindHost of ['0.0.0.0', undefined]) {
      const { url } = await serve(groups, { bindHost });
      expect(await status(url, { host: 'hub.lan:3000' })).toBe(200);
      expect(await status(url, { host: 'hub.lan:3000', origin: 'http://hub.lan:3000' })).toBe(200);
      expect(await status(url, { host: 'hub.lan:3000', origin: 'http://evil.example' })).toEqual(REFUSED);
    }
  });

  test('behind a trusted proxy the forwarded name is the hub’s own', async () => {
    const forwarded = {
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'hub.example.org',
      origin: 'https://hub.example.org',
    };
    const trusting = await serve(groups, { trustProxy: true, bindHost: '0.0.0.0' });
    expect(await status(trusting.url, forwarded)).toBe(200);
    const doubting = await serve(groups, { bindHost: '0.0.0.0' });
    expect(await status(doubting.url, forwarded)).toEqual(REFUSED);
  });

  test('listed origins pass [C4-cors-passes]', async () => {
    const { url } = await serve(groups, { corsOrigins: [APP, 'http://Dev.example:80/'] });
    expect(await status(url, { origin: APP })).toBe(200);
    expect(await status(url, { origin: 'http://dev.example' })).toBe(200);
    expect(await status(url, { origin: `${APP}.evil.example` })).toEqual(REFUSED);
  });
});

describe('browsers on listed origins', () => {
  test('a preflight is answered before credentials are asked for', async () => {
    const { url } = await serve(groups, { corsOrigins: [APP], deps: { authenticator: bearerOnly } });
    const { status, headers } = await send(`${url}/v1/chat`, {
      method: 'OPTIONS',
      headers: {
        origin: APP,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, x-target',
      },
    });
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'POST, OPTIONS',
      'access-control-allow-headers': 'authorization, x-target',
      vary: 'Origin',
    });
  });

  test('answers and errors may be read by the listed page and by no other', async () => {
    const { url } = await serve(groups, { corsOrigins: [APP], deps: { authenticator: bearerOnly } });
    const own = await send(`${url}/v1/chat`, { method: 'POST', headers: { origin: APP } });
    expect(own.status).toBe(401);
    expect(own.headers).toMatchObject({ 'access-control-allow-origin': APP, vary: 'Origin' });
    expect(own.headers['access-control-expose-headers']).toContain('x-request-id');
    for (const headers of [{ origin: 'https://evil.example' }, {}]) {
      const other = await send(`${url}/v1/page`, { headers });
      expect(other.headers['access-control-allow-origin']).toBeUndefined();
      expect(other.headers.vary).toBe('Origin');
    }
  });

  test('a preflight of another page grants nothing', async () => {
    const { url } = await serve(groups, { corsOrigins: [APP] });
    const { status, headers } = await send(`${url}/v1/chat`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(status).toBe(204);
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('with * any page may read, without cookies', async () => {
    const { url } = await serve(groups, { corsOrigins: ['*'] });
    const { headers } = await send(`${url}/v1/chat`, {
      method: 'POST',
      headers: { origin: 'https://x.example' },
    });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });
});
