import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { open, send } from '../../helpers/http.ts';
import { until } from '../../helpers/until.ts';
import { type AppOptions, closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

/** A hub whose route holds every request until it is let go. */
async function holding(limits: AppOptions['limits'], deps: AppOptions['deps'] = {}) {
  const held: ServerResponse[] = [];
  let arrived = 0;
  const rateLimit = () => {
    arrived += 1;
    return {};
  };
  const { url, records } = await serve(
    [
      group(
        { method: 'GET', path: '/v1/hold', handler: (_request, response) => void held.push(response) },
        { method: 'GET', path: '/v1/page', access: 'public', handler: (_q, response) => void response.end() },
      ),
    ],
    { ...(limits && { limits }), deps: { rateLimit, ...deps } },
  );
  const call = (caller = 'x') => send(`${url}/v1/hold`, { headers: { 'x-caller': caller } });
  return { url, held, call, records, arrived: () => arrived };
}

/** Callers as they name themselves. */
const byHeader: AppOptions['deps'] = {
  authenticator: {
    authenticate: ({ headers }) => ({ id: undefined, label: String(headers['x-caller']) }),
  },
};

describe('places in the gateway', () => {
  test('past concurrency a request waits, past the queue it is 503 at once [C2-limits-concurrency]', async () => {
    const { held, call, arrived } = await holding({ concurrency: 2, queue: 1 });
    const answers = [call(), call(), call()];
    await until('3 requests in', () => arrived() === 3 && held.length === 2);
    const refused = await call();
    expect([refused.status, refused.json().error.code, refused.headers['retry-after']]).toEqual([
      503,
      'overloaded',
      '1',
    ]);
    held[0]?.end('first');
    await until('3 requests held', () => held.length === 3);
    held[1]?.end('second');
    held[2]?.end('third');
    expect((await Promise.all(answers)).map(({ text }) => text).sort()).toEqual(['first', 'second', 'third']);
    const next = call();
    await until('4 requests held', () => held.length === 4);
    held[3]?.end('free again');
    expect((await next).text).toBe('free again');
  });

  test('one caller past perCaller is 429, another is not [C2-limits-per-caller]', async () => {
    const { held, call } = await holding({ perCaller: 1 }, byHeader);
    const first = call('anna');
    await until('1 requests held', () => held.length === 1);
    const refused = await call('anna');
    expect([refused.status, refused.json().error.code, refused.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '1',
    ]);
    const other = call('bert');
    await until('2 requests held', () => held.length === 2);
    for (const response of held) response.end('done');
    expect([(await first).text, (await other).text]).toEqual(['done', 'done']);
  });

  test('whoever leaves while waiting gives up the place and the count', async () => {
    const { url, held, call, records, arrived } = await holding({ concurrency: 1, queue: 1, perCaller: 2 });
    const first = call();
    await until('1 requests held', () => held.length === 1);
    const leaving = new AbortController();
    const waiting = open(`${url}/v1/hold`, { headers: { 'x-request-id': 'gone' }, signal: leaving.signal });
    waiting.catch(() => {});
    await until('the waiting request', () => arrived() === 2);
    expect((await call()).status).toBe(429);
    leaving.abort();
    await until('its record', () => records.some(({ fields }) => fields.requestId === 'gone'));
    expect(records.find(({ fields }) => fields.requestId === 'gone')?.fields).toMatchObject({
      status: 499,
      aborted: true,
    });
    const second = call();
    await until('the second request', () => arrived() === 4);
    held[0]?.end('first');
    await until('2 requests held', () => held.length === 2);
    held[1]?.end('second');
    expect([(await first).text, (await second).text]).toEqual(['first', 'second']);
  });

  test('public pages never wait', async () => {
    const { url, held, call } = await holding({ concurrency: 1, queue: 0 });
    const first = call();
    await until('1 requests held', () => held.length === 1);
    expect((await call()).status).toBe(503);
    expect((await send(`${url}/v1/page`)).status).toBe(200);
    held[0]?.end();
    await first;
  });

  test('the rate limit speaks before a place is taken, and its headers are on the answer', async () => {
    const counted: string[] = [];
    const { held, call } = await holding(undefined, {
      rateLimit({ label }) {
        counted.push(label);
        return { 'ratelimit-remaining': '9' };
      },
    });
    const first = call();
    await until('1 requests held', () => held.length === 1);
    held[0]?.end();
    expect((await first).headers['ratelimit-remaining']).toBe('9');
    expect(counted).toEqual(['ip:127.0.0.1']);
  });
});
