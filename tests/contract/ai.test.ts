import { describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { clientOf, servers } from '../helpers/contract.ts';

const hello = [{ role: 'user', content: 'hello there' }];

describe.each(servers)('$name', (server) => {
  const ask = clientOf(server);
  const chat = (json: unknown, headers: Record<string, string> = {}) =>
    ask('/v1/chat/completions', { json, headers });
  const sdk = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'unused', maxRetries: 0 });

  test('a chat is answered by the target of x-target, with usage and the target named [S4.4-chat, S1-x-target, S1-chat-route, S9-v1, C5-target-header, C5-provider-echo, C2-hub-target-header, C5-answer-headers]', async () => {
    const answer = await chat({ messages: hello }, { 'x-target': 'echo' });
    expect(answer.status).toBe(200);
    expect(answer.headers['x-hub-target']).toBe('echo');
    expect(Number(answer.headers['x-hub-overhead-ms'])).toBeGreaterThanOrEqual(0);
    const body = answer.json();
    expect(body).toMatchObject({ object: 'chat.completion', model: 'echo-1' });
    expect(body.choices[0].message).toMatchObject({ role: 'assistant' });
    expect(body.choices[0].message.content).toContain('hello there');
    const { prompt_tokens, completion_tokens, total_tokens } = body.usage;
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(completion_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  });

  test('without x-target the model chooses the target: its id, or id/model [C5-target-model]', async () => {
    for (const model of ['echo', 'echo/echo-1', 'echo/other']) {
      const answer = await chat({ model, messages: hello });
      expect([model, answer.status, answer.headers['x-hub-target']]).toEqual([model, 200, 'echo']);
    }
  });

  test('a request that chooses no target is 400 target_required [C5-target-required]', async () => {
    for (const body of [{ messages: hello }, { model: 'gpt-4', messages: hello }]) {
      const answer = await chat(body);
      expect(answer.status).toBe(400);
      expect(answer.json().error).toMatchObject({ code: 'target_required', type: 'invalid_request_error' });
    }
  });

  test('an unknown target is 404 target_not_found and lists no secrets [C5-target-not-found]', async () => {
    const answer = await chat({ messages: hello }, { 'x-target': 'none' });
    expect(answer.status).toBe(404);
    expect(answer.json().error).toMatchObject({ code: 'target_not_found', type: 'not_found_error' });
    expect(answer.text).not.toMatch(/sk-|127\.0\.0\.1/);
  });

  test.each([
    ['missing', {}],
    ['a text', { messages: 'hello' }],
    ['an object', { messages: { role: 'user' } }],
    ['null', { messages: null }],
  ])('messages that are %s are 400 before any upstream call [C5-messages]', async (_what, body) => {
    const answer = await chat(body, { 'x-target': 'nobody' });
    expect(answer.status).toBe(400);
    expect(answer.json().error).toMatchObject({ code: 'invalid_request', param: 'messages' });
  });

  test.each(['[]', '"text"', '7', 'null'])(
    'the body %s, which is no object, is 400 [C5-body-not-object]',
    async (body) => {
      const headers = { 'content-type': 'application/json', 'x-target': 'echo' };
      const answer = await ask('/v1/chat/completions', { body, headers });
      expect(answer.status).toBe(400);
      expect(answer.json().error.type).toBe('invalid_request_error');
    },
  );

  test('an owned key that occurs twice is 400, also when one is escaped [C5-body-owned-twice]', async () => {
    for (const twice of ['"model":"a","model":"b"', '"model":"a","mod\\u0065l":"b"']) {
      const answer = await ask('/v1/chat/completions', {
        body: `{${twice},"messages":[]}`,
        headers: { 'content-type': 'application/json', 'x-target': 'echo' },
      });
      expect([twice, answer.status]).toEqual([twice, 400]);
    }
  });

  test('invalid UTF-8 is invalid_json and a Content-Encoding 415 [C5-body-utf8, C5-body-encoding]', async () => {
    const headers = { 'content-type': 'application/json', 'x-target': 'echo' };
    const broken = Buffer.concat([
      Buffer.from('{"messages":[{"role":"user","content":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}]}'),
    ]);
    const utf8 = await ask('/v1/chat/completions', { body: broken, headers });
    expect([utf8.status, utf8.json().error.code]).toEqual([400, 'invalid_json']);
    const encoded = await ask('/v1/chat/completions', {
      body: JSON.stringify({ messages: hello }),
      headers: { ...headers, 'content-encoding': 'gzip' },
    });
    expect([encoded.status, encoded.json().error.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('the models are the targets [C5-models]', async () => {
    const list = await ask('/v1/models');
    expect(list.status).toBe(200);
    expect(list.json().object).toBe('list');
    expect(list.json().data.map((model: { id: string }) => model.id)).toEqual(['echo', 'nobody']);
    expect((await ask('/v1/models/echo')).json()).toMatchObject({ id: 'echo', object: 'model' });
    const unknown = await ask('/v1/models/none');
    expect([unknown.status, unknown.json().error.type]).toEqual([404, 'not_found_error']);
  });

  test('the openai SDK works: a call, a stream and its usage [C5-provider-echo, C5-body-include-usage]', async () => {
    const messages = [{ role: 'user' as const, content: 'one two three' }];
    const whole = await sdk.chat.completions.create({ model: 'echo', messages });
    expect(whole.choices[0]?.message.content).toContain('one two three');

    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of await sdk.chat.completions.create({
      model: 'echo',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(usage?.total_tokens).toBe(whole.usage?.total_tokens);
  });

  test('a stream has no usage chunk for a client that did not ask [C5-body-include-usage]', async () => {
    const answer = await chat({ model: 'echo', messages: hello, stream: true });
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/^data: \{/);
    expect(answer.text).not.toMatch(/"choices":\[\]/);
  });

  test('the SDK sees an error of the hub as its own kind [C3-error-shape]', async () => {
    const call = sdk.chat.completions.create({ model: 'none', messages: [] });
    await expect(call).rejects.toMatchObject({ status: 400, code: 'target_required' });
  });
});
