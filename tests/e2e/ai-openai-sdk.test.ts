import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

/** The real `openai` SDK against the real hub, with aimock as the provider behind it. */
let mock: LLMock;
let hub: HubProcess;
let client: OpenAI;

const user = (content: string) => [{ role: 'user' as const, content }];

beforeAll(async () => {
  mock = new LLMock({ port: 0 });
  mock.onMessage('hello', { content: 'Hi there, nice to meet you!' });
  mock.onMessage('weather', {
    toolCalls: [{ name: 'get_weather', arguments: JSON.stringify({ city: 'Uster' }) }],
  });
  mock.onMessage('break', { error: { message: 'Too many', type: 'rate_limit_error' }, status: 429 });
  mock.onEmbedding('vector', { embedding: [0.25, -0.5, 1] });
  await mock.start();
  hub = await startHub({
    config: {
      targets: [
        {
          id: 'mock',
          provider: 'openai-compatible',
          baseUrl: `${mock.url}/v1`,
          apiKey: 'mock-key',
          options: { model: 'gpt-4o' },
          retry: { attempts: 0 },
        },
        { id: 'echo', provider: 'echo', options: { model: 'echo-1' } },
      ],
      auth: { admin: { enabled: true, apiKeys: ['test-admin-key-0123456789-0123456789'] } },
    },
  });
  client = new OpenAI({ baseURL: `${hub.url}/v1`, apiKey: 'of-the-caller', maxRetries: 0 });
});

afterAll(async () => {
  await hub?.stop();
  await mock?.stop();
});

describe('the OpenAI SDK through the hub', () => {
  test('chats, choosing the target by its header [S1-ai-forward] [S1-chat-route] [S1-x-target] [S4.4-chat] [S9-v1] [C5-target-header]', async () => {
    const { data, response } = await client.chat.completions
      .create({ model: 'mock', messages: user('hello') }, { headers: { 'x-target': 'mock' } })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe('Hi there, nice to meet you!');
    expect(response.headers.get('x-hub-target')).toBe('mock');
  });

  test('chats, choosing the target by the model [C5-target-model]', async () => {
    for (const model of ['mock', 'mock/gpt-4o-mini']) {
      const answer = await client.chat.completions.create({ model, messages: user('hello') });
      expect(answer.choices[0]?.message.content).toMatch(/^Hi there/);
    }
    const asked = mock.getRequests().map((entry) => (entry.body as { model: string }).model);
    expect(asked).toEqual(expect.arrayContaining(['gpt-4o', 'gpt-4o-mini']));
  });

  test('streams, with usage when it asks for it [C5-provider-compatible]', async () => {
    const stream = await client.chat.completions.create({
      model: 'mock',
      messages: user('hello'),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      tokens += chunk.usage?.total_tokens ?? 0;
    }
    expect(text).toBe('Hi there, nice to meet you!');
    expect(tokens).toBeGreaterThan(0);
  });

  test('streams without a usage chunk when it does not [C5-body-include-usage]', async () => {
    const stream = await client.chat.completions.create({
      model: 'mock',
      messages: user('hello'),
      stream: true,
    });
    for await (const chunk of stream) expect(chunk.choices.length).toBeGreaterThan(0);
  });

  test('calls tools [C5-relay-bytes]', async () => {
    const answer = await client.chat.completions.create({ model: 'mock', messages: user('weather') });
    const [call] = answer.choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({
      type: 'function',
      function: { name: 'get_weather', arguments: '{"city":"Uster"}' },
    });
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('meets the errors of the provider as its own error classes [C5-err-429]', async () => {
    await expect(client.chat.completions.create({ model: 'mock', messages: user('break') })).rejects.toThrow(
      OpenAI.RateLimitError,
    );
  });

  test('embeds [C5-embeddings]', async () => {
    const answer = await client.embeddings.create({
      model: 'mock/text-embedding-3-small',
      input: 'vector',
      encoding_format: 'float',
    });
    expect(answer.data[0]?.embedding).toHaveLength(3);
  });

  test('uses the responses route, whole and streamed [C5-responses]', async () => {
    const answer = await client.responses.create({ model: 'mock', input: 'hello' });
    expect(answer.output_text).toBe('Hi there, nice to meet you!');
    const stream = await client.responses.create({ model: 'mock', input: 'hello', stream: true });
    let text = '';
    for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta;
    expect(text).toBe('Hi there, nice to meet you!');
  });

  test('lists the targets as models [C5-models]', async () => {
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(ids).toEqual(['mock', 'echo']);
    expect(await client.models.retrieve('echo')).toMatchObject({
      id: 'echo',
      object: 'model',
      owned_by: 'echo',
    });
    await expect(client.models.retrieve('none')).rejects.toThrow(OpenAI.NotFoundError);
  });

  test("the provider gets the target's key, never the caller's credentials [S5.4-ai-key]", async () => {
    await client.chat.completions.create(
      { model: 'mock', messages: user('hello') },
      { headers: { cookie: 'a=b', 'x-admin-key': 'of-an-admin' } },
    );
    const headers = JSON.stringify(mock.getLastRequest()?.headers);
    expect(headers).not.toMatch(/of-the-caller|a=b|of-an-admin|x-target|x-ailink/);
  });

  test('every call leaves one record with its tokens, and is counted [S2.1-log-total-tokens] [S6-ailink-events]', async () => {
    const answer = await client.chat.completions
      .create({ model: 'mock', messages: user('hello') }, { headers: { 'x-request-id': 'my-request-1' } })
      .withResponse();
    expect(answer.response.headers.get('x-request-id')).toBe('my-request-1');
    const records = await until('the record', () => {
      const found = hub
        .logs()
        .filter((record) => record.requestId === 'my-request-1' && 'totalTokens' in record);
      return found.length > 0 && found;
    });
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      level: expect.stringMatching(/info/i),
      target: 'mock',
      provider: 'openai-compatible',
      outcome: 'success',
      status: 200,
      attempts: 1,
      totalTokens: answer.data.usage?.total_tokens,
    });
  });
});

describe('echo', () => {
  test('answers locally, streams and reports usage, without a key [C5-provider-echo]', async () => {
    const whole = await client.chat.completions.create({ model: 'echo', messages: user('Say it again') });
    expect(whole.choices[0]?.message.content).toBe('Say it again');
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
    const stream = await client.chat.completions.create({
      model: 'echo',
      messages: user('Say it\nagain  please'),
      stream: true,
    });
    const pieces: string[] = [];
    for await (const chunk of stream) pieces.push(chunk.choices[0]?.delta.content ?? '');
    expect(pieces.join('')).toBe('Say it\nagain  please');
    expect(pieces.length).toBeGreaterThan(4);
  });

  test('calls a forced tool, and answers with its result afterwards [C5-provider-echo]', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'look_up', parameters: {} } }];
    const asked = await client.chat.completions.create({
      model: 'echo',
      messages: user('Zurich'),
      tools,
      tool_choice: 'required',
    });
    expect(asked.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'look_up', arguments: '{"input":"Zurich"}' } }] },
    });
    const call = asked.choices[0]?.message;
    if (call === undefined) throw new Error('no message');
    const answered = await client.chat.completions.create({
      model: 'echo',
      messages: [
        ...user('Zurich'),
        call,
        { role: 'tool', tool_call_id: call.tool_calls?.[0]?.id ?? '', content: 'sunny' },
      ],
      tools,
      tool_choice: 'required',
    });
    expect(answered.choices[0]?.message.content).toBe('sunny');
  });

  test('embeds, completes, and has the responses route [C5-completions]', async () => {
    const embedded = await client.embeddings.create({ model: 'echo', input: ['a', 'b'], dimensions: 8 });
    expect(embedded.data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
    const completed = await client.completions.create({
      model: 'echo',
      prompt: 'one two three',
      max_tokens: 2,
    });
    expect(completed.choices[0]).toMatchObject({ text: 'one two', finish_reason: 'length' });
    const response = await client.responses.create({ model: 'echo', input: 'hello again' });
    expect(response.output_text).toBe('hello again');
  });
});
