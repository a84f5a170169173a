import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startAiLink, type TestAiLink, type TestTarget } from '../helpers/ai-link.ts';
import {
  answers,
  type Behaviour,
  chunk,
  completion,
  DONE,
  events,
  hangs,
  type MisbehavingProvider,
  resets,
  startMisbehavingProvider,
  streams,
} from '../helpers/misbehaving-provider.ts';

const question = { messages: [{ role: 'user', content: 'Hi' }] };
const aim = { 'x-target': 'main' };
const fine: Behaviour = answers(200, completion);
const problem = { error: { message: 'later', type: 'x', code: 'y' } };
const limited = (retryAfter?: string, more: Record<string, string> = {}): Behaviour =>
  answers(429, problem, {
    'content-type': 'application/json',
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    ...more,
  });

let first: MisbehavingProvider;
let second: MisbehavingProvider;
let third: MisbehavingProvider;
let hub: TestAiLink;

beforeEach(async () => {
  [first, second, third] = await Promise.all([
    startMisbehavingProvider(fine),
    startMisbehavingProvider(fine),
    startMisbehavingProvider(fine),
  ]);
});

afterEach(async () => {
  await hub.close();
  await Promise.all([first.close(), second.close(), third.close()]);
});

async function start(main: Partial<TestTarget> = {}, others: Partial<TestTarget>[] = []): Promise<void> {
  const common = { provider: 'openai-compatible', options: { model: 'm1' } };
  hub = await startAiLink([
    { ...common, id: 'main', baseUrl: first.baseUrl, apiKey: 'key-1', ...main },
    {
      ...common,
      id: 'second',
      baseUrl: second.baseUrl,
      apiKey: 'key-2',
      options: { model: 'm2' },
      ...others[0],
    },
    {
      ...common,
      id: 'third',
      baseUrl: third.baseUrl,
      apiKey: 'key-3',
      options: { model: 'm3' },
      ...others[1],
    },
  ] as TestTarget[]);
}

const post = (body: object = question) => hub.post('/v1/chat/completions', body, aim);
const shouldRetry = (answer: Response) => answer.headers.get('x-should-retry');

describe('retries', () => {
  test.each<[string, Behaviour]>([
    ['429', limited()],
    ['500', answers(500, problem)],
    ['503', answers(503, problem)],
    ['529', answers(529, problem)],
    ['a reset', resets],
  ])('%s is tried again, and a success is a success [C2-retry-when]', async (_name, behaviour) => {
    await start({ retry: { attempts: 2 } });
    first.will(behaviour, behaviour, fine);
    const answer = await post();
    expect(answer.status).toBe(200);
    expect(shouldRetry(answer)).toBeNull();
    expect(first.received).toHaveLength(3);
    expect(await hub.ended(1)).toMatchObject([{ outcome: 'success' }]);
    expect(hub.logs.find((record) => record.type === 'aiLink')?.fields).toMatchObject({ attempts: 3 });
  });

  test('a stream is tried again before its first event [C2-retry-when]', async () => {
    await start({ retry: { attempts: 1 } });
    first.will(answers(503, problem), streams([events([chunk('a', 'stop'), DONE])]));
    const answer = await post({ ...question, stream: true });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('[DONE]');
  });

  test('attempts counts the retries after the first call, and the last failure is told not to be tried again [C2-retry-attempts] [C5-should-retry]', async () => {
    await start({ retry: { attempts: 2 } });
    first.will(answers(500, problem));
    const answer = await post();
    expect(answer.status).toBe(502);
    expect(shouldRetry(answer)).toBe('false');
    expect(first.received).toHaveLength(3);
  });

  test('none with attempts 0, and then the caller may try again [C2-retry-attempts] [C5-should-retry-absent]', async () => {
    await start({ retry: { attempts: 0 } });
    for (const behaviour of [answers(500, problem), limited(), resets]) {
      first.will(behaviour);
      expect(shouldRetry(await post())).toBeNull();
    }
    expect(first.received).toHaveLength(3);
  });

  test.each<[string, Behaviour, string | null]>([
    ['a 400', answers(400, problem), null],
    ['a 401', answers(401, problem), 'false'],
    ['a 404', answers(404, problem), null],
    ['a bad answer', answers(200, 'no'), null],
  ])('%s is not tried again [C2-retry-when] [C5-should-retry]', async (_name, behaviour, told) => {
    await start({ retry: { attempts: 3 } });
    first.will(behaviour);
    expect(shouldRetry(await post())).toBe(told);
    expect(first.received).toHaveLength(1);
  });

  test('a time-out is not tried again: there is one deadline over all [C2-retry-deadline]', async () => {
    await start({ retry: { attempts: 3 }, requestTimeout: 1000 });
    first.will((response, received) => {
      setTimeout(() => answers(500, problem)(response, received), 800);
    }, hangs);
    const startedAt = performance.now();
    const answer = await post();
    expect(answer.status).toBe(504);
    expect(shouldRetry(answer)).toBe('false');
    expect(performance.now() - startedAt).toBeLessThan(1600);
    expect(first.received).toHaveLength(2);
  });

  test('Retry-After is waited out when it is short enough [C2-retry-after]', async () => {
    await start({ retry: { attempts: 1, maxDelay: 2000 } });
    first.will(limited('1'), fine);
    const startedAt = performance.now();
    expect((await post()).status).toBe(200);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990);
  });

  test('a Retry-After past maxDelay, or past the deadline, means no retry, and the caller may come back [C2-retry-after] [C5-should-retry-absent]', async () => {
    await start({ retry: { attempts: 2, maxDelay: 500 }, requestTimeout: 5000 });
    first.will(limited('1'));
    const answer = await post();
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(shouldRetry(answer)).toBeNull();
    expect(first.received).toHaveLength(1);
    await hub.close();

    // So it is after another retry.
    await start({ retry: { attempts: 2, maxDelay: 500 } });
    first.will(answers(500, problem), limited('1'));
    expect(shouldRetry(await post())).toBeNull();
    expect(first.received).toHaveLength(3);
    await hub.close();

    await start({ retry: { attempts: 2, maxDelay: 60_000 }, requestTimeout: 500 });
    first.will(limited('1'));
    expect(shouldRetry(await post())).toBeNull();
    expect(first.received).toHaveLength(4);
    await hub.close();

    // And after the last retry, or a fallback.
    await start({ retry: { attempts: 1, maxDelay: 500 } });
    first.will(answers(500, problem), limited('1'));
    expect(shouldRetry(await post())).toBeNull();
    await hub.close();
    await start({ retry: { attempts: 0, maxDelay: 500 }, fallback: ['second'] }, [
      { retry: { attempts: 0 } },
    ]);
    first.will(answers(500, problem));
    second.will(limited('60'));
    expect(shouldRetry(await post())).toBeNull();
  });

  test('a provider that says x-should-retry: false is believed [C2-retry-when]', async () => {
    await start({ retry: { attempts: 2 } });
    first.will(limited(undefined, { 'x-should-retry': 'false' }));
    expect((await post()).status).toBe(429);
    expect(first.received).toHaveLength(1);
  });

  test('ends when the caller leaves while the hub waits [C5-ends-once]', async () => {
    await start({ retry: { attempts: 1, maxDelay: 60_000 }, requestTimeout: 60_000 });
    first.will(limited('30'));
    const leaving = new AbortController();
    const answer = fetch(`${hub.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...aim, 'x-ailink-token': 'a-token-of-the-tests-with-32-characters' },
      body: JSON.stringify(question),
      signal: leaving.signal,
    }).catch(() => 'left');
    await (await first.request(0)).left;
    leaving.abort();
    await answer;
    expect(await hub.ended(1)).toMatchObject([{ outcome: 'aborted' }]);
  });
});

describe('fallback', () => {
  test.each<[string, Behaviour]>([
    ['429', limited('60')],
    ['500', answers(500, problem)],
    ['a reset', resets],
    ['a time-out', hangs],
    ['a refused key', answers(401, problem)],
    ['a bad answer', answers(200, 'no')],
  ])(
    'follows %s, with its own key and model, and says who answered [C2-fallback-when] [C2-fallback-own] [C2-hub-target-header]',
    async (_name, behaviour) => {
      await start({ fallback: ['second', 'third'], requestTimeout: 150 });
      first.will(behaviour);
      const answer = await post();
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-hub-target')).toBe('second');
      const received = await second.request(0);
      expect(received.headers.authorization).toBe('Bearer key-2');
      expect(JSON.parse(received.body.toString()).model).toBe('m2');
      expect(third.received).toHaveLength(0);
      expect(await hub.ended(1)).toMatchObject([{ outcome: 'success', target: 'second' }]);
      expect(hub.logs.some((record) => record.type === 'error' && record.level === 'warn')).toBe(true);
    },
  );

  test('never follows another 4xx [C2-fallback-when]', async () => {
    await start({ fallback: ['second'] });
    first.will(answers(400, problem));
    const answer = await post();
    expect(answer.status).toBe(400);
    expect(answer.headers.get('x-hub-target')).toBe('main');
    expect(second.received).toHaveLength(0);
  });

  test('goes down the list, each with its own clock; the last failure is told [C2-fallback-order] [C5-should-retry]', async () => {
    await start({ fallback: ['second', 'third'], requestTimeout: 150 }, [{ requestTimeout: 150 }]);
    first.will(hangs);
    second.will(hangs);
    third.will(answers(503, problem));
    const answer = await post();
    expect(answer.status).toBe(502);
    expect(answer.headers.get('x-hub-target')).toBe('third');
    expect(shouldRetry(answer)).toBe('false');
    expect([first, second, third].map(({ received }) => received.length)).toEqual([1, 1, 1]);
  });

  test('keeps the model that the caller named, and passes over a target that does not offer it [C2-fallback-own] [C2-target-models]', async () => {
    await start({ fallback: ['second', 'third'] }, [{ models: ['m2', 'other'] }]);
    first.will(answers(500, problem));
    const answer = await post({ ...question, model: 'named' });
    expect(answer.headers.get('x-hub-target')).toBe('third');
    expect(second.received).toHaveLength(0);
    expect(JSON.parse((await third.request(0)).body.toString()).model).toBe('named');
  });

  test('happens for a stream before its first event [C2-fallback-when]', async () => {
    await start({ fallback: ['second'], firstTokenTimeout: 100 });
    first.will((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': wait\n\n');
    });
    second.will(streams([events([chunk('a', 'stop'), DONE])]));
    const answer = await post({ ...question, stream: true });
    expect(answer.headers.get('x-hub-target')).toBe('second');
    expect(await answer.text()).toBe(events([chunk('a', 'stop'), DONE]));
    expect(await (await first.request(0)).left).toBe(true);
  });
});

describe('the limits of a target', () => {
  test('calls past maxConcurrency wait in line, and one past maxQueue is 503 overloaded at once [C2-target-concurrency] [C5-err-overloaded] [C5-should-retry-absent]', async () => {
    await start({ maxConcurrency: 1, maxQueue: 1 });
    let answerFirst = () => {};
    first.will((response) => {
      answerFirst = () => response.end(JSON.stringify(completion));
    }, fine);
    const running = post();
    await first.request(0);
    const waiting = post();
    // The line is full as soon as the hub has read the second call.
    let refused = await post();
    if (refused.status !== 503) refused = await post();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(shouldRetry(refused)).toBeNull();
    expect((await refused.json()) as object).toMatchObject({
      error: { code: 'overloaded', type: 'server_error' },
    });
    expect(first.received).toHaveLength(1);
    answerFirst();
    expect([(await running).status, (await waiting).status]).toEqual([200, 200]);
    expect((await post()).status).toBe(200);
  });

  test('a caller that leaves the line gives up its place, and one that waits past its time is refused [C2-target-concurrency]', async () => {
    await start({ maxConcurrency: 1, maxQueue: 1, requestTimeout: 300 });
    first.will(hangs);
    const running = post();
    await first.request(0);
    const leaving = new AbortController();
    const left = fetch(`${hub.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...aim, 'x-ailink-token': 'a-token-of-the-tests-with-32-characters' },
      body: JSON.stringify(question),
      signal: leaving.signal,
    }).catch(() => 'left');
    setTimeout(() => leaving.abort(), 50);
    await left;
    expect(await hub.ended(1)).toMatchObject([{ outcome: 'aborted' }]);
    expect((await running).status).toBe(504);
    expect(first.received).toHaveLength(1);
  });
});

describe('redirects', () => {
  const to = (location: string, status = 307): Behaviour => answers(status, '', { location });

  test.each([301, 302, 307, 308])(
    '%i is followed as a POST with its body, within the same origin with the key [S2.1-http-client-redirects]',
    async (status) => {
      await start();
      first.will(to('/elsewhere', status), fine);
      expect((await post()).status).toBe(200);
      const received = await first.request(1);
      expect(received.url).toBe('/elsewhere');
      expect(received.headers.authorization).toBe('Bearer key-1');
      expect(received.body.toString()).toContain('messages');
    },
  );

  test('to another origin neither the key nor the configured headers go along, not even on the way back [S2.1-http-client-redirects]', async () => {
    await start({ headers: { 'x-api-secret': 'secret' } });
    first.will(to(`${second.origin}/a`), fine);
    second.will(to(`${first.origin}/b`));
    expect((await post()).status).toBe(200);
    for (const received of [await second.request(0), await first.request(1)]) {
      expect(received.headers.authorization).toBeUndefined();
      expect(received.headers['x-api-secret']).toBeUndefined();
      expect(received.headers['content-type']).toBe('application/json');
    }
  });

  test('more than maxRedirects is 502 upstream_bad_response [S2.1-http-client-redirects] [C2-redirects-zero]', async () => {
    for (const maxRedirects of [0, 2]) {
      hub = await startAiLink(
        [
          {
            id: 'main',
            provider: 'openai-compatible',
            baseUrl: first.baseUrl,
            options: { model: 'm' },
          } as TestTarget,
        ],
        { hub: { http_client: { maxRedirects } } },
      );
      const before = first.received.length;
      first.will(to('/again'));
      const answer = await post();
      expect(answer.status).toBe(502);
      expect((await answer.json()) as object).toMatchObject({ error: { code: 'upstream_bad_response' } });
      expect(first.received.length - before).toBe(maxRedirects + 1);
      if (maxRedirects === 0) await hub.close();
    }
  });
});
