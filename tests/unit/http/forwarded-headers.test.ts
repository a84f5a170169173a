import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import {
  createRequestHeaderFilter,
  createResponseHeaderFilter,
  foreignCookies,
} from '../../../lib/http/forwarded-headers.ts';

const flat = (headers: [string, string][]) => headers.flat();

describe('what may leave the hub', () => {
  test('a caller’s credentials and addresses of the hub stay, the rest passes as written [C3-credentials-stay]', () => {
    const select = createRequestHeaderFilter();
    const kept = flat([
      ['X-Custom', 'one'],
      ['x-custom', 'two'],
      ['Accept', '*/*'],
      ['Content-Type', 'application/json'],
    ]);
    const stays = flat([
      ['Authorization', 'Bearer x'],
      ['COOKIE', 'hub.sid=1'],
      ['X-Admin-Key', 'k'],
      ['x-target', 'echo'],
      ['X-AILink-Token', 't'],
      ['X-Hub-Caller', 'root'],
      ['Host', 'hub'],
      ['Expect', '100-continue'],
      ['Proxy-Authorization', 'Basic x'],
    ]);
    expect(select([...stays, ...kept])).toEqual(kept);
  });

  test('headers of the connection are dropped, those that Connection names too', () => {
    const raw = flat([
      ['Connection', 'keep-alive, X-Private'],
      ['X-Private', '1'],
      ['Keep-Alive', 'timeout=5'],
      ['TE', 'trailers'],
      ['Trailer', 'x'],
      ['Transfer-Encoding', 'chunked'],
      ['Upgrade', 'h2c'],
      ['X-Public', '1'],
    ]);
    expect(createRequestHeaderFilter()(raw)).toEqual(['X-Public', '1']);
    expect(createResponseHeaderFilter()(raw)).toEqual(['X-Public', '1']);
  });

  test('a relay may drop more and keep what it must', () => {
    const select = createRequestHeaderFilter({ drop: ['X-Internal'], keep: ['authorization'] });
    expect(select(['Authorization', 'a', 'Cookie', 'b', 'x-internal', 'c'])).toEqual(['Authorization', 'a']);
  });

  test('an upstream does not speak for the hub', () => {
    const select = createResponseHeaderFilter({ drop: ['Server'] });
    const raw = [
      'X-Powered-By',
      'PHP',
      'server',
      'x',
      'X-Request-Id',
      '1',
      'Set-Cookie',
      'a',
      'set-cookie',
      'b',
    ];
    expect(select(raw)).toEqual(['Set-Cookie', 'a', 'set-cookie', 'b']);
  });

  test.each([
    ['hub.sid=1; a=2;b = 3', 'a=2; b = 3'],
    ['hub.sid=1', undefined],
    ['hub.sidx=1; xhub.sid=2', 'hub.sidx=1; xhub.sid=2'],
    [undefined, undefined],
  ])('of the cookies %j the upstream sees %j', (cookie, expected) => {
    expect(foreignCookies({ headers: { cookie } } as IncomingMessage, 'hub.sid')).toBe(expected);
  });
});
