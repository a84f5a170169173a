import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startAiLink, type TestAiLink, type TestTarget } from '../helpers/ai-link.ts';
import {
  answers,
  completion,
  type MisbehavingProvider,
  startMisbehavingProvider,
} from '../helpers/misbehaving-provider.ts';

let provider: MisbehavingProvider;
let hub: TestAiLink;

const question = { messages: [{ role: 'user', content: 'Hi' }] };
const post = (body: unknown, headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
  hub.post(path, body, headers);
const code = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
];

async function start(
  targets: Partial<TestTarget>[],
  options: Parameters<typeof startAiLink>[1] = {},
): Promise<void> {
  hub = await startAiLink(
    targets.map((target) => ({
      provider: 'openai-compatible',
      baseUrl: provider.baseUrl,
      ...target,
    })) as TestTarget[],
    options,
  );
}

beforeEach(async () => {
  provider = await startMisbehavingProvider(answers(200, completion));
});

afterEach(async () => {
  await hub.close();
  await provider.close();
});

describe('the choice of a target', () => {
  beforeEach(() =>
    start([
      { id: 'a', options: { model: 'model-a' }, apiKey: 'secret-of-a' },
      { id: 'b', models: ['m1', 'vendor/m2'], options: { model: 'own' } },
      { id: 'bare' },
    ]),
  );

  test.each<[string, string | undefined, unknown, string, unknown]>([
    ['the header', 'a', undefined, 'a', 'model-a'],
    ['the header, with white space', ' a ', undefined, 'a', 'model-a'],
    ['the header, with a model', 'a', 'other', 'a', 'other'],
    ['the header, and the model that names the target', 'a', 'a', 'a', 'model-a'],
    ['the header wins over the model', 'a', 'b', 'a', 'b'],
    ['the model is a target', undefined, 'a', 'a', 'model-a'],
    ['the model begins with a target', undefined, 'a/gpt-x', 'a', 'gpt-x'],
    ['the rest may hold slashes', undefined, 'b/vendor/m2', 'b', 'vendor/m2'],
    ["the target's own model is allowed", 'b', 'own', 'b', 'own'],
    ['a null model names none', 'a', null, 'a', 'model-a'],
    ['an empty model names none', 'a', '', 'a', 'model-a'],
    ['a target without a model leaves the body alone', 'bare', 'x', 'bare', 'x'],
    ['even one that names none', 'bare', undefined, 'bare', undefined],
  ])(
    '%s [C5-target-header] [C5-target-model] [C5-body-model] [C2-target-models]',
    async (_name, header, model, target, sent) => {
      const answer = await post({ ...question, model }, header === undefined ? {} : { 'x-target': header });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-hub-target')).toBe(target);
      expect(JSON.parse((await provider.request(0)).body.toString()).model).toBe(sent);
    },
  );

  test.each<[string, string | undefined, unknown, [number, string]]>([
    ['neither', undefined, undefined, [400, 'target_required']],
    ['an empty header', '', undefined, [400, 'target_required']],
    ['a model that is no target', undefined, 'gpt-4o', [400, 'target_required']],
    ['a prefix that is no target', undefined, 'c/gpt-4o', [400, 'target_required']],
    ['an unknown target', 'nobody', undefined, [404, 'target_not_found']],
    ['a prototype name', '__proto__', undefined, [404, 'target_not_found']],
    ['a model that the target does not offer', 'b', 'm3', [400, 'model_not_allowed']],
    ['the same by prefix', undefined, 'b/m3', [400, 'model_not_allowed']],
  ])(
    '%s [C5-target-required] [C5-target-not-found] [C2-target-models]',
    async (_name, header, model, expected) => {
      const answer = await post({ ...question, model }, header === undefined ? {} : { 'x-target': header });
      const text = await answer.clone().text();
      expect(await code(answer)).toEqual(expected);
      expect(text).not.toContain('secret-of-a');
      expect(provider.received).toHaveLength(0);
      expect(await hub.ended(1)).toMatchObject([{ outcome: 'error' }]);
      expect(hub.calls[0]?.start).toMatchObject({ action: 'chat.completions', streaming: false });
    },
  );

  test('a body that is refused is counted and logged once too [C5-ends-once]', async () => {
    expect(await code(await post('{"messages":', { 'x-target': 'a' }))).toEqual([400, 'invalid_json']);
    expect(await code(await post({}, { 'x-target': 'a' }))).toEqual([400, 'invalid_request']);
    expect((await hub.ended(2)).map(({ outcome }) => outcome)).toEqual(['error', 'error']);
    expect(hub.calls.every(({ ends }) => ends.length === 1)).toBe(true);
    expect(hub.logs.filter(({ type }) => type === 'aiLink').map(({ fields }) => fields.code)).toEqual([
      'invalid_json',
      'invalid_request',
    ]);
  });
});

describe('what a provider gets', () => {
  test("the target's key and headers, and nothing else of the hub or the caller [S5.4-ai-key] [C2-target-headers] [C5-identity-encoding]", async () => {
    await start([{ id: 'a', apiKey: 'k1', headers: { 'X-Team': 'owls', 'User-Agent': 'mine', Host: 'x' } }]);
    await post(question, {
      'x-target': 'a',
      'x-hub-caller': 'somebody',
      authorization: 'Bearer of-the-caller',
      cookie: 'a=b',
      'x-admin-key': 'k',
      'x-request-id': 'r1',
    });
    const { headers } = await provider.request(0);
    expect(headers).toEqual({
      host: new URL(provider.origin).host,
      connection: 'keep-alive',
      'content-type': 'application/json',
      'content-length': String(JSON.stringify(question).length),
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'mine',
      authorization: 'Bearer k1',
      'x-team': 'owls',
    });
  });

  test('a configured Authorization wins over the key, and without either there is none [C2-target-headers]', async () => {
    await start([{ id: 'a', apiKey: 'k1', headers: { Authorization: 'Basic x' } }, { id: 'b' }]);
    await post(question, { 'x-target': 'a' });
    await post({ ...question, stream: true }, { 'x-target': 'b' });
    expect((await provider.request(0)).headers.authorization).toBe('Basic x');
    expect((await provider.request(1)).headers.authorization).toBeUndefined();
    expect((await provider.request(1)).headers.accept).toBe('text/event-stream');
  });

  test('the trace goes on with a span of its own, and is logged', async () => {
    await start([{ id: 'a' }]);
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    await post(question, { 'x-target': 'a', traceparent });
    await post(question, { 'x-target': 'a', traceparent });
    const seen = [await provider.request(0), await provider.request(1)].map(
      ({ headers }) => headers.traceparent,
    );
    for (const header of seen)
      expect(header).toMatch(new RegExp(`^00-${traceId}-(?!00f067aa0ba902b7)[0-9a-f]{16}-01$`));
    expect(seen[0]).not.toBe(seen[1]);
    expect(hub.logs[0]?.fields.traceId).toBe(traceId);
  });

  test.each([
    ['/v1/chat/completions', question],
    ['/v1/completions', { prompt: 'x' }],
    ['/v1/embeddings', { input: 'x' }],
    ['/v1/responses', { input: 'x' }],
  ])(
    '%s at the base address, for OpenAI and compatible servers [C2-base-url] [C5-completions] [C5-embeddings] [C5-responses] [C5-provider-openai]',
    async (path, body) => {
      await start([
        { id: 'compatible', baseUrl: `${provider.origin}/some/where/v1/` },
        { id: 'openai', provider: 'openai', apiKey: 'k', options: { model: 'gpt' } },
      ]);
      await post(body, { 'x-target': 'compatible' }, path);
      await post(body, { 'x-target': 'openai' }, path);
      expect((await provider.request(0)).url).toBe(`/some/where${path}`);
      expect((await provider.request(1)).url).toBe(path);
      expect(hub.calls.map(({ start }) => start.action)).toEqual(
        Array(2).fill(path.slice(4).replace('/', '.')),
      );
    },
  );

  test('Azure: deployment and version in the path, its key in its own header [C5-provider-azure] [S2.1-azure-deployment] [C2-azure-api-version]', async () => {
    const azure = { provider: 'azure', baseUrl: provider.origin, apiKey: 'k' } as const;
    await start([
      { ...azure, id: 'fixed', azureDeploymentId: 'my dep', azureApiVersion: '2025-01-01' },
      { ...azure, id: 'open', azureApiVersion: '2024-10-21' },
    ]);
    await post(question, { 'x-target': 'fixed' });
    await post({ input: 'x' }, { 'x-target': 'fixed' }, '/v1/responses');
    await post({ ...question, model: 'gpt-4o' }, { 'x-target': 'open' });
    const sent = provider.received;
    expect(sent.map(({ url }) => url)).toEqual([
      '/openai/deployments/my%20dep/chat/completions?api-version=2025-01-01',
      '/openai/responses?api-version=2025-01-01',
      '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
    ]);
    expect(sent[0]?.headers['api-key']).toBe('k');
    expect(sent[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(sent[1]?.body.toString() ?? '').model).toBe('my dep');
    expect(await code(await post(question, { 'x-target': 'open' }))).toEqual([400, 'invalid_request']);
  });

  test('the body as it came, byte for byte, but for what the hub owns [S2.1-target-record] [C5-body-forwarded] [C5-body-literals]', async () => {
    await start([{ id: 'a', options: { model: 'm', max_completion_tokens: 9 } }]);
    const body =
      ' { "messages" : [ {"role":"user","content":"\\u00e9 🦉"} ], "seed": 12345678901234567890, "x":1.10, "x":2 } ';
    await post(body, { 'x-target': 'a' });
    expect((await provider.request(0)).body.toString()).toBe(
      ` {"model":"m","max_completion_tokens":9,${body.slice(2)}`,
    );
  });
});

describe('what a caller gets', () => {
  test('the answer byte for byte, rate-limit headers, and no other header of the provider [C5-relay-bytes] [C5-answer-headers]', async () => {
    await start([{ id: 'a' }]);
    const odd = `${JSON.stringify(completion).slice(0, -1)} , "big":12345678901234567890 }\n`;
    provider.will(
      answers(200, odd, {
        'content-type': 'application/json',
        'x-ratelimit-limit-requests': '9',
        server: 'x',
        'set-cookie': 'a=b',
      }),
    );
    const answer = await post(question, { 'x-target': 'a' });
    expect(await answer.text()).toBe(odd);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-ratelimit-limit-requests': '9',
      'x-hub-target': 'a',
      'x-hub-overhead-ms': expect.stringMatching(/^\d+\.\d\d$/),
    });
    expect(answer.headers.get('server')).toBeNull();
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  test('x-hub-overhead-ms leaves out the wait for the provider [C5-answer-headers]', async () => {
    await start([{ id: 'a' }]);
    provider.will(async (response) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      response.end(JSON.stringify(completion));
    });
    const answer = await post(question, { 'x-target': 'a' });
    expect(Number(answer.headers.get('x-hub-overhead-ms'))).toBeLessThan(250);
  });

  test('an answer without usage is estimated, of a failure nothing is counted [C5-usage]', async () => {
    await start([{ id: 'a' }]);
    provider.will(
      answers(200, { ...completion, usage: undefined }),
      answers(200, { object: 'list', data: [] }),
      answers(500, ''),
    );
    await post(question, { 'x-target': 'a' });
    await post({ input: 'abcdefgh' }, { 'x-target': 'a' }, '/v1/embeddings');
    await post(question, { 'x-target': 'a' });
    expect((await hub.ended(3)).map(({ tokens }) => tokens)).toEqual([
      { prompt: 5, completion: 3, estimated: true },
      { prompt: 2, completion: 0, estimated: true },
      undefined,
    ]);
  });

  test('a response that failed is an answer, and counts as an error [C5-responses]', async () => {
    await start([{ id: 'a' }]);
    const failed = { object: 'response', status: 'failed', error: { code: 'server_error', message: 'x' } };
    provider.will(answers(200, failed));
    const answer = await post({ input: 'x' }, { 'x-target': 'a' }, '/v1/responses');
    expect([answer.status, await answer.json()]).toEqual([200, failed]);
    expect(await hub.ended(1)).toMatchObject([{ outcome: 'error' }]);
  });

  test('callers and counts are in the one record of a call [S6-ailink-events]', async () => {
    await start([{ id: 'a', options: { model: 'm' }, price: { prompt: 1, completion: 2 } }]);
    await post(question, { 'x-target': 'a', 'x-hub-caller': 'user%2F7', 'x-request-id': 'r-1' });
    const [end] = await hub.ended(1);
    expect(hub.calls[0]?.start.caller).toBe('user/7');
    expect(end?.cost).toBeCloseTo((7 + 4) / 1e6, 12);
    expect(hub.logs).toHaveLength(1);
    expect(hub.logs[0]).toMatchObject({
      type: 'aiLink',
      level: 'info',
      fields: {
        requestId: 'r-1',
        target: 'a',
        provider: 'openai-compatible',
        model: 'model-of-the-provider',
        status: 200,
        outcome: 'success',
        attempts: 1,
        promptTokens: 7,
        completionTokens: 2,
        totalTokens: 9,
        caller: 'user/7',
      },
    });
  });
});

describe('a forward proxy', () => {
  test('carries the calls to targets that NO_PROXY does not name', async () => {
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      request.resume();
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(completion));
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const http = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await start(
      [
        { id: 'far', baseUrl: 'http://provider.example/v1' },
        { id: 'near', baseUrl: provider.baseUrl },
      ],
      { outboundProxy: { http, https: undefined, no: '127.0.0.1' } },
    );
    expect((await post(question, { 'x-target': 'far' })).status).toBe(200);
    expect((await post(question, { 'x-target': 'near' })).status).toBe(200);
    expect(seen).toEqual(['POST http://provider.example/v1/chat/completions']);
    expect(provider.received).toHaveLength(1);
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
});
