import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startAiLink, type TestAiLink, type TestTarget } from '../helpers/ai-link.ts';
import {
  answers,
  type Behaviour,
  breaksOff,
  chunk,
  completion,
  DONE,
  endlessLine,
  events,
  hangs,
  hangsAfterHeaders,
  heartbeats,
  type MisbehavingProvider,
  resets,
  startMisbehavingProvider,
  streams,
} from '../helpers/misbehaving-provider.ts';

const KEY = 'sk-of-the-hub-0123456789';
const question = { messages: [{ role: 'user', content: 'Hi' }] };
const aim = { 'x-target': 'main' };

let provider: MisbehavingProvider;
let links: TestAiLink[] = [];

beforeEach(async () => {
  provider = await startMisbehavingProvider();
});

afterEach(async () => {
  for (const link of links) await link.close();
  links = [];
  await provider.close();
});

async function link(
  target: Partial<TestTarget> = {},
  others: TestTarget[] = [],
  connectTimeout = 5000,
): Promise<TestAiLink> {
  const started = await startAiLink(
    [
      {
        id: 'main',
        provider: 'openai-compatible',
        baseUrl: provider.baseUrl,
        apiKey: KEY,
        options: { model: 'm' },
        ...target,
      } as TestTarget,
      ...others,
    ],
    { secrets: [KEY], connectTimeout },
  );
  links.push(started);
  return started;
}

/** Asks, whole or streamed, and gives what matters of the answer. */
async function ask(hub: TestAiLink, stream: boolean) {
  const answer = await hub.post('/v1/chat/completions', { ...question, stream }, aim);
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, error: errorOf(text) };
}

function errorOf(text: string) {
  try {
    return JSON.parse(text).error;
  } catch {
    return undefined;
  }
}

const upstream = (code: string) => ({ type: 'upstream_error', code });
const own = { error: { message: 'Bad temperature', type: 'invalid_request_error', code: 'bad_temperature' } };

interface Row {
  name: string;
  id: string;
  behaviour: Behaviour;
  status: number;
  error: object;
  target?: Partial<TestTarget>;
}

const before: Row[] = [
  { name: 'a 400', id: 'C5-err-4xx', behaviour: answers(400, own), status: 400, error: own.error },
  { name: 'a 404', id: 'C5-err-4xx', behaviour: answers(404, own), status: 404, error: own.error },
  { name: 'a 408', id: 'C5-err-4xx', behaviour: answers(408, own), status: 408, error: own.error },
  { name: 'a 422', id: 'C5-err-4xx', behaviour: answers(422, own), status: 422, error: own.error },
  { name: 'a 451', id: 'C5-err-4xx', behaviour: answers(451, own), status: 451, error: own.error },
  { name: 'a 429', id: 'C5-err-429', behaviour: answers(429, own), status: 429, error: own.error },
  {
    name: 'a 401',
    id: 'C5-err-auth',
    behaviour: answers(401, own),
    status: 502,
    error: upstream('upstream_auth_failed'),
  },
  {
    name: 'a 402',
    id: 'C5-err-auth',
    behaviour: answers(402, own),
    status: 502,
    error: upstream('upstream_auth_failed'),
  },
  {
    name: 'a 403',
    id: 'C5-err-auth',
    behaviour: answers(403, own),
    status: 502,
    error: upstream('upstream_auth_failed'),
  },
  {
    name: 'an HTML 500',
    id: 'C5-err-5xx',
    behaviour: answers(500, '<html>oops</html>', { 'content-type': 'text/html' }),
    status: 502,
    error: upstream('upstream_unavailable'),
  },
  {
    name: 'a 503',
    id: 'S7-provider-502',
    behaviour: answers(503, own),
    status: 502,
    error: upstream('upstream_unavailable'),
  },
  {
    name: 'a reset',
    id: 'C5-err-5xx',
    behaviour: resets,
    status: 502,
    error: upstream('upstream_unavailable'),
  },
  {
    name: 'a redirect to nowhere',
    id: 'C5-err-bad-response',
    behaviour: answers(302, ''),
    status: 502,
    error: upstream('upstream_bad_response'),
  },
  {
    name: 'silence',
    id: 'C5-err-timeout',
    behaviour: hangs,
    target: { requestTimeout: 100 },
    status: 504,
    error: { type: 'timeout_error', code: 'upstream_timeout' },
  },
  {
    name: 'silence after the headers',
    id: 'C5-err-timeout',
    behaviour: hangsAfterHeaders(),
    target: { requestTimeout: 100 },
    status: 504,
    error: { type: 'timeout_error', code: 'upstream_timeout' },
  },
  {
    name: 'an error whose body never ends',
    id: 'C5-err-timeout',
    behaviour: hangsAfterHeaders(500),
    target: { requestTimeout: 100 },
    status: 504,
    error: { type: 'timeout_error', code: 'upstream_timeout' },
  },
];

describe.each([
  ['whole', false],
  ['streamed', true],
])('a %s call', (_kind, stream) => {
  test.each(before)(
    '$name of the provider becomes $status [C5-stream-gated] [$id]',
    async ({ behaviour, status, error, target }) => {
      provider.will(behaviour);
      const hub = await link(target);
      const answer = await ask(hub, stream);
      expect(answer.status).toBe(status);
      expect(answer.error).toMatchObject(error);
      expect(answer.headers.get('x-hub-target')).toBe('main');
      expect(Number(answer.headers.get('x-hub-overhead-ms'))).toBeGreaterThanOrEqual(0);
      expect(answer.text).not.toContain('127.0.0.1');
      const [end, ...more] = await hub.ended(1);
      expect(more).toEqual([]);
      expect(end).toMatchObject({
        outcome: 'error',
        target: 'main',
        provider: 'openai-compatible',
        model: 'm',
      });
      expect(end?.tokens).toBeUndefined();
    },
  );

  test('a provider that cannot be reached is 502 upstream_unavailable, and the body does not say where it was [C5-err-5xx]', async () => {
    await provider.close();
    const answer = await ask(await link(), stream);
    expect(answer.status).toBe(502);
    expect(answer.error.code).toBe('upstream_unavailable');
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED/);
    provider = await startMisbehavingProvider();
  });

  test('a host name that does not resolve is 502 upstream_unavailable [C5-err-5xx]', async () => {
    const answer = await ask(await link({ baseUrl: 'http://no-such-host.invalid/v1' }), stream);
    expect(answer.error.code).toBe('upstream_unavailable');
    expect(answer.text).not.toContain('no-such-host');
  });

  test('a server that speaks no TLS is 502 upstream_unavailable [C5-err-5xx]', async () => {
    const answer = await ask(await link({ baseUrl: provider.baseUrl.replace('http:', 'https:') }), stream);
    expect(answer.status).toBe(502);
    expect(answer.error.code).toBe('upstream_unavailable');
  });

  test('a connection that is never established ends by the connect clock with 504 [C2-connect-timeout]', async () => {
    // It accepts the connection and says nothing in the TLS handshake.
    const mute = createServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as AddressInfo;
    const hub = await link({ baseUrl: `https://127.0.0.1:${port}/v1` }, [], 100);
    const answer = await ask(hub, stream);
    expect(answer.status).toBe(504);
    expect(answer.error.code).toBe('upstream_timeout');
    mute.close();
  });

  test('a 429 keeps Retry-After and the rate-limit headers [C5-err-429]', async () => {
    provider.will(
      answers(429, own, {
        'content-type': 'application/json',
        'retry-after': '17',
        'x-ratelimit-remaining-requests': '0',
        'set-cookie': 'a=b',
        'x-internal': 'secret',
      }),
    );
    const answer = await ask(await link(), stream);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('17');
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('x-internal')).toBeNull();
  });

  test("the hub's key and the provider's host are cut out of a provider's error body [C5-err-4xx]", async () => {
    provider.will(
      answers(400, { error: { message: `${KEY} is wrong at ${provider.origin}/v1`, code: 'x' } }),
    );
    const answer = await ask(await link(), stream);
    expect(answer.status).toBe(400);
    expect(answer.error.message).toMatch(/^\[REDACTED\] is wrong at http:\/\/\[REDACTED\]\/v1$/);
  });

  test('an error without a body gets one [C5-err-4xx]', async () => {
    provider.will(answers(404, ''));
    const answer = await ask(await link(), stream);
    expect(answer.status).toBe(404);
    expect(answer.error).toMatchObject({ code: 'upstream_error', type: 'upstream_error' });
  });

  test('an overlong error body is left out, and its status stays [C5-err-4xx]', async () => {
    provider.will(answers(400, 'x'.repeat(2 * 1024 * 1024), { 'content-type': 'text/plain' }));
    const answer = await ask(await link(), stream);
    expect(answer.status).toBe(400);
    expect(answer.error.code).toBe('upstream_error');
  });

  test('a failure is told to the operator with target and advice, and never with the key [S6-ailink-events]', async () => {
    provider.will(answers(401, { error: { message: `Incorrect API key ${KEY}` } }));
    const hub = await link();
    await ask(hub, stream);
    const line = hub.logs.find((record) => record.type === 'error');
    expect(line?.message).toMatch(/^Target main: .*refused the hub's credentials.*targets\[\]\.apiKey/);
    expect(JSON.stringify(hub.logs)).not.toContain(KEY);
  });
});

describe('a 200 that is not valid', () => {
  test.each<[string, Behaviour, boolean]>([
    ['HTML', answers(200, '<html></html>', { 'content-type': 'text/html' }), false],
    ['an empty body', answers(200, ''), false],
    ['JSON that is no object', answers(200, '[1]'), false],
    ['an error in a whole answer', answers(200, own), false],
    ['half an answer', breaksOff(JSON.stringify(completion).slice(0, 50)), false],
    ['an empty stream', streams([]), true],
    ['a stream of nothing but comments', streams([': hello\n\n', ': bye\n\n']), true],
    ['a stream of nothing but [DONE]', streams([events([DONE])]), true],
    ['an error as the first event', streams([events([`data: ${JSON.stringify(own)}`, DONE])]), true],
    [
      'an error event of the responses route',
      streams(['event: error\ndata: {"type":"error","message":"x"}\n\n']),
      true,
    ],
    ['a first event that is not JSON', streams(['data: hello\n\n']), true],
    ['HTML instead of a stream', answers(200, '<html>\n\n</html>', { 'content-type': 'text/html' }), true],
    ['a JSON answer instead of a stream', answers(200, completion), true],
    ['an endless first line', endlessLine(), true],
  ])('%s is 502 and counts as an error [C5-err-bad-response]', async (name, behaviour, stream) => {
    provider.will(behaviour);
    const hub = await link();
    const answer = await ask(hub, stream);
    expect(answer.status).toBe(502);
    expect(answer.error.code).toBe(
      name === 'half an answer' ? 'upstream_unavailable' : 'upstream_bad_response',
    );
    expect((await hub.ended(1))[0]).toMatchObject({ outcome: 'error' });
    if (name === 'an endless first line') expect(await (await provider.request(0)).left).toBe(true);
  });

  test('a compressed answer, though identity was asked for, is 502 [C5-err-bad-response] [C5-identity-encoding]', async () => {
    provider.will(answers(200, Buffer.from([0x1f, 0x8b, 8, 0]), { 'content-encoding': 'gzip' }));
    const answer = await ask(await link(), false);
    expect(answer.error.code).toBe('upstream_bad_response');
    expect((await provider.request(0)).headers['accept-encoding']).toBe('identity');
  });
});

describe('the clocks of a stream', () => {
  test('comments do not stop the first-token clock, and the provider is told to stop [C2-first-token-timeout] [C2-stream-clocks]', async () => {
    provider.will(heartbeats(10));
    const hub = await link({ firstTokenTimeout: 150, requestTimeout: 5000 });
    const answer = await ask(hub, true);
    expect(answer.status).toBe(504);
    expect(answer.error.code).toBe('upstream_timeout');
    expect(await (await provider.request(0)).left).toBe(true);
  });

  test('a healthy stream may last longer than requestTimeout [C2-request-timeout] [C2-stream-clocks]', async () => {
    const pieces = Array.from({ length: 8 }, (_, index) => events([chunk(`w${index} `)]));
    provider.will(streams([...pieces, events([chunk('', 'stop'), DONE])], 50));
    const answer = await ask(await link({ requestTimeout: 200, idleTimeout: 5000 }), true);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('w7 ');
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('any byte resets the idle clock, comments too [C2-idle-timeout]', async () => {
    provider.will(
      streams(
        [
          events([chunk('a')]),
          ...Array<string>(8).fill(': still here\n\n'),
          events([chunk('b', 'stop'), DONE]),
        ],
        50,
      ),
    );
    const answer = await ask(await link({ idleTimeout: 200 }), true);
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('an unstreamed call ends at requestTimeout, even when bytes keep coming [C2-request-timeout] [S2.1-target-timeout]', async () => {
    provider.will(async (response, { left }) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 10);
      await left;
      clearInterval(timer);
    });
    const answer = await ask(await link({ requestTimeout: 150 }), false);
    expect(answer.status).toBe(504);
  });
});
