import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startAiLink, type TestAiLink, type TestTarget } from '../helpers/ai-link.ts';
import {
  type Behaviour,
  chunk,
  DONE,
  endlessLine,
  events,
  type MisbehavingProvider,
  startMisbehavingProvider,
  streams,
  streamsThenDies,
  streamsThenHangs,
  usageChunk,
} from '../helpers/misbehaving-provider.ts';

const question = {
  messages: [{ role: 'user', content: 'Tell me something of medium length' }],
  stream: true,
};
const aim = { 'x-target': 'main' };

let provider: MisbehavingProvider;
let hub: TestAiLink;

beforeEach(async () => {
  provider = await startMisbehavingProvider();
});

afterEach(async () => {
  await hub.close();
  await provider.close();
});

async function start(target: Partial<TestTarget> = {}): Promise<void> {
  hub = await startAiLink([
    {
      id: 'main',
      provider: 'openai-compatible',
      baseUrl: provider.baseUrl,
      options: { model: 'm' },
      ...target,
    },
  ] as TestTarget[]);
}

async function ask(body: object = question): Promise<string> {
  const answer = await hub.post('/v1/chat/completions', body, aim);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** An answer that is read by hand. */
function open(body: object = question): Promise<IncomingMessage & { leave(): void }> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(`${hub.url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { ...aim, 'x-ailink-token': 'a-token-of-the-tests-with-32-characters' },
    });
    call.on('error', reject);
    call.on('response', (response) => {
      call.removeAllListeners('error');
      call.on('error', () => {});
      resolve(Object.assign(response, { leave: () => call.destroy() }));
    });
    call.end(JSON.stringify(body));
  });
}

const whole = [chunk('Hello'), chunk(' there'), chunk('', 'stop')];

describe('what is relayed', () => {
  const wantsUsage = { ...question, stream_options: { include_usage: true } };

  test.each<[string, string]>([
    ['LF', events([...whole, usageChunk(), DONE])],
    ['CR LF', events([...whole, usageChunk(), DONE], '\r\n')],
    ['CR', events([...whole, usageChunk(), DONE], '\r')],
    [
      'comments and odd fields',
      `: one\n\nid: 7\nretry: 10\n${events([...whole])}:two\n\n\n${events([usageChunk(), DONE])}`,
    ],
    ['no [DONE]', events(whole)],
    ['no blank line at the end', `${events(whole)}${DONE}`],
    ['characters of four bytes', events([chunk('🦉'.repeat(10)), chunk('é', 'stop'), DONE])],
  ])('is the same bytes: %s, cut anywhere [C5-relay-bytes] [C5-stream-no-done]', async (_name, text) => {
    await start();
    const bytes = Buffer.from(text);
    for (const size of [1, 7, bytes.length]) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
      provider.will(streams(pieces));
      expect(await ask(wantsUsage)).toBe(text);
    }
    for (const end of await hub.ended(3)) {
      expect(end.outcome).toBe('success');
      expect(end.model).toBe('model-of-the-provider');
      if (text.includes('usage')) {
        expect(end.tokens).toEqual({ prompt: 7, completion: 2, estimated: false });
      }
    }
  });

  test.each(['\n', '\r\n'])(
    'the usage-only chunk is asked for, counted, and taken out for a client that did not ask (%j) [C5-body-include-usage]',
    async (lineEnd) => {
      await start();
      const bytes = Buffer.from(`: hi${lineEnd}${lineEnd}${events([...whole, usageChunk(), DONE], lineEnd)}`);
      for (const size of [1, 5, bytes.length]) {
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        provider.will(streams(pieces));
        expect(await ask()).toBe(`: hi${lineEnd}${lineEnd}${events([...whole, DONE], lineEnd)}`);
      }
      expect((await hub.ended(3))[0]?.tokens).toEqual({ prompt: 7, completion: 2, estimated: false });
      expect(JSON.parse((await provider.request(0)).body.toString()).stream_options).toEqual({
        include_usage: true,
      });
    },
  );

  test('a chunk without choices that is not about usage stays, such as the prompt filter of Azure [C5-relay-bytes]', async () => {
    await start();
    const text = events(['data: {"choices":[],"prompt_filter_results":[]}', ...whole, DONE]);
    provider.will(streams([text]));
    expect(await ask()).toBe(text);
  });

  test('a target with askUsage false is not asked, and what it sends by itself is not touched [C2-ask-usage]', async () => {
    await start({ askUsage: false });
    const text = events([...whole, usageChunk(), DONE]);
    provider.will(streams([text]));
    expect(await ask()).toBe(text);
    expect((await provider.request(0)).body.toString()).not.toContain('stream_options');
    expect((await hub.ended(1))[0]?.tokens).toEqual({ prompt: 7, completion: 2, estimated: false });
  });

  test('bytes go out as they come in: the first event arrives long before the last is sent [C5-stream-flows]', async () => {
    await start();
    let sendRest = () => {};
    provider.will((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events([chunk('first')]));
      sendRest = () => response.end(events([chunk('last', 'stop'), DONE]));
    });
    const answer = await open();
    const seen: string[] = [];
    for await (const piece of answer) {
      seen.push(String(piece));
      if (seen.length === 1) sendRest();
    }
    expect(seen[0]).toBe(events([chunk('first')]));
    expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
    expect(answer.headers['x-hub-target']).toBe('main');
    expect(Number(answer.headers['x-hub-overhead-ms'])).toBeGreaterThanOrEqual(0);
  });

  test('an error event in the middle is relayed and counts as an error [C5-ends-once]', async () => {
    await start();
    const text = events([chunk('Hello'), 'data: {"error":{"message":"overloaded"}}']);
    provider.will(streams([text]));
    expect(await ask()).toBe(text);
    expect((await hub.ended(1))[0]?.outcome).toBe('error');
  });
});

describe('usage', () => {
  test('zero is a count like any other [C5-usage]', async () => {
    await start();
    provider.will(
      streams([events([...whole, usageChunk({ prompt_tokens: 0, completion_tokens: 0 }), DONE])]),
    );
    await ask();
    expect((await hub.ended(1))[0]?.tokens).toEqual({ prompt: 0, completion: 0, estimated: false });
  });

  test('a provider that reports none is estimated, and says so [C5-usage]', async () => {
    await start();
    provider.will(streams([events([chunk('x'.repeat(40)), chunk('y'.repeat(40), 'stop'), DONE])]));
    await ask();
    expect((await hub.ended(1))[0]?.tokens).toEqual({ prompt: 13, completion: 20, estimated: true });
  });

  test('cached and reasoning tokens, finish reasons, cost and time to the first token are counted [C2-price] [C5-usage]', async () => {
    await start({ price: { prompt: 2, completion: 10 } });
    provider.will(
      streams([
        events([
          ...whole,
          usageChunk({
            prompt_tokens: 1000,
            completion_tokens: 100,
            prompt_tokens_details: { cached_tokens: 800 },
            completion_tokens_details: { reasoning_tokens: 60 },
          }),
          DONE,
        ]),
      ]),
    );
    await ask();
    const [end] = await hub.ended(1);
    expect(end).toMatchObject({
      tokens: { prompt: 1000, completion: 100, cached: 800, reasoning: 60, estimated: false },
      finishReasons: ['stop'],
    });
    expect(end?.cost).toBeCloseTo(0.003, 12);
    expect(end?.firstTokenMs).toBeGreaterThan(0);
  });
});

describe('a failure after the first byte', () => {
  test.each<[string, Behaviour, Partial<TestTarget>, string]>([
    ['a reset', streamsThenDies([events([chunk('Hello')])]), {}, 'upstream_unavailable'],
    [
      'a reset within an event',
      streamsThenDies([events([chunk('Hello')]), 'data: {"cho']),
      {},
      'upstream_unavailable',
    ],
    ['silence', streamsThenHangs([events([chunk('Hello')])]), { idleTimeout: 100 }, 'upstream_timeout'],
    ['an endless line', endlessLine([events([chunk('Hello')])]), {}, 'upstream_bad_response'],
  ])(
    '%s ends the stream with one error event, without [DONE] and without half an event [C5-stream-error-frame]',
    async (_name, behaviour, target, code) => {
      await start(target);
      provider.will(behaviour);
      const text = await ask();
      const frames = text.split('\n\n').filter((frame) => frame !== '');
      expect(frames[0]).toBe(chunk('Hello'));
      expect(frames).toHaveLength(2);
      expect(JSON.parse(frames[1]?.slice(6) ?? '').error.code).toBe(code);
      expect(text).not.toContain('127.0.0.1');
      const ends = await hub.ended(1);
      expect(ends).toHaveLength(1);
      expect(ends[0]).toMatchObject({ outcome: 'error', tokens: { estimated: true } });
      expect(await (await provider.request(0)).left).toBe(true);
    },
  );

  test('it is never retried, nor handed to a fallback [C2-fallback-order]', async () => {
    const other = await startMisbehavingProvider(streams([events([...whole, DONE])]));
    hub = await startAiLink([
      {
        id: 'main',
        provider: 'openai-compatible',
        baseUrl: provider.baseUrl,
        options: { model: 'm' },
        retry: { attempts: 3 },
        fallback: ['other'],
      },
      { id: 'other', provider: 'openai-compatible', baseUrl: other.baseUrl, options: { model: 'm' } },
    ]);
    provider.will(streamsThenDies([events([chunk('Hello')])]));
    await ask();
    expect(provider.received).toHaveLength(1);
    expect(other.received).toHaveLength(0);
    await other.close();
  });
});

describe('a stream that just stops', () => {
  test('without [DONE] and without a finish reason it gains nothing, and counts as an error [C5-stream-no-done]', async () => {
    await start();
    provider.will(streams([events([chunk('Hel')])]));
    expect(await ask()).toBe(events([chunk('Hel')]));
    expect((await hub.ended(1))[0]?.outcome).toBe('error');
  });
});

describe('the caller leaving', () => {
  test('in the middle of a stream it aborts the upstream call at once and counts what was seen as aborted [C5-stream-abort] [C5-ends-once]', async () => {
    await start();
    provider.will(streamsThenHangs([events([chunk('x'.repeat(40))])]));
    const answer = await open();
    await new Promise((resolve) => answer.once('data', resolve));
    answer.leave();
    expect(await (await provider.request(0)).left).toBe(true);
    const ends = await hub.ended(1);
    expect(ends).toHaveLength(1);
    expect(ends[0]).toMatchObject({
      outcome: 'aborted',
      target: 'main',
      tokens: { prompt: 13, completion: 10, estimated: true },
    });
  });

  test.each([true, false])(
    'before the first byte it aborts the upstream call too (stream: %s) [C5-stream-abort]',
    async (stream) => {
      await start({ retry: { attempts: 2 } });
      provider.will(() => {});
      const leaving = new AbortController();
      const answer = fetch(`${hub.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...aim, 'x-ailink-token': 'a-token-of-the-tests-with-32-characters' },
        body: JSON.stringify({ ...question, stream }),
        signal: leaving.signal,
      }).catch(() => 'left');
      const received = await provider.request(0);
      leaving.abort();
      expect(await received.left).toBe(true);
      expect(await answer).toBe('left');
      expect((await hub.ended(1))[0]?.outcome).toBe('aborted');
      expect(provider.received).toHaveLength(1);
    },
  );
});

describe('a slow caller', () => {
  test('holds the provider back, stops the idle clock, and gets every byte [C5-stream-backpressure]', async () => {
    await start({ idleTimeout: 300 });
    const big = chunk('x'.repeat(64 * 1024));
    let written = 0;
    provider.will(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let index = 0; index < 400; index += 1) {
        const goesOn = response.write(events([big]));
        written = index + 1;
        if (!goesOn) await new Promise((resolve) => response.once('drain', resolve));
      }
      response.end(events([chunk('', 'stop'), DONE]));
    });
    const answer = await open();
    answer.pause();
    // Long enough for the idle clock, had it not been stopped.
    await new Promise((resolve) => setTimeout(resolve, 700));
    const heldBack = written;
    expect(heldBack).toBeLessThan(400);
    let size = 0;
    for await (const piece of answer) size += (piece as Buffer).length;
    expect(size).toBe(400 * Buffer.byteLength(events([big])) + events([chunk('', 'stop'), DONE]).length);
    expect((await hub.ended(1))[0]?.outcome).toBe('success');
  });
});
