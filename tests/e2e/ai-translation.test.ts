import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startAiLink, type TestAiLink, type TestTarget } from '../helpers/ai-link.ts';
import {
  answers,
  type MisbehavingProvider,
  startMisbehavingProvider,
  streams,
} from '../helpers/misbehaving-provider.ts';

/** Providers with protocols of their own, played by a server that records what it gets and answers as they do. */
let server: MisbehavingProvider;
let hub: TestAiLink;

beforeEach(async () => {
  server = await startMisbehavingProvider();
  const common = { baseUrl: server.origin, apiKey: 'the-key' };
  hub = await startAiLink(
    [
      { ...common, id: 'anthropic', provider: 'anthropic', options: { model: 'claude-sonnet-4-5' } },
      {
        ...common,
        id: 'gemini',
        provider: 'gemini',
        options: { model: 'gemini-2.5-flash', max_completion_tokens: 50 },
      },
      { ...common, id: 'ollama', provider: 'ollama', options: { model: 'llama3.2' } },
    ] as TestTarget[],
    { secrets: ['the-key'] },
  );
});

afterEach(async () => {
  await hub.close();
  await server.close();
});

type Target = 'anthropic' | 'gemini' | 'ollama';
const TARGETS: Target[] = ['anthropic', 'gemini', 'ollama'];

async function ask(target: Target, body: object, path = '/v1/chat/completions') {
  const answer = await hub.post(path, body, { 'x-target': target });
  const text = await answer.text();
  return { status: answer.status, text, json: safely(text) };
}

function safely(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The request that the provider got, as JSON. */
async function sent(index = 0) {
  const { body, ...rest } = await server.request(index);
  return { ...rest, json: JSON.parse(body.toString()) };
}

/** The chunks of a stream; its last frame must be [DONE]. */
function chunksOf(text: string) {
  const frames = text.split('\n\n').filter((frame) => frame !== '');
  expect(frames.at(-1)).toBe('data: [DONE]');
  return frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)));
}

const joined = (chunks: { choices: { delta: Record<string, string> }[] }[], name: string) =>
  chunks.map((chunk) => chunk.choices[0]?.delta[name] ?? '').join('');

/** The same small answer of each provider, whole and streamed. */
const texts: Record<Target, { whole: unknown; stream: string }> = {
  anthropic: {
    whole: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [
        { type: 'thinking', thinking: 'Let me see', signature: 'sig' },
        { type: 'text', text: 'Hello there' },
      ],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 1,
        output_tokens: 7,
      },
    },
    stream: [
      'event: ping\ndata: {"type":"ping"}',
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","model":"claude-sonnet-4-5-20250929","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":4,"cache_creation_input_tokens":1,"output_tokens":1}}}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me see"}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hello "}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"there"}}',
      'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}',
      'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}',
      'event: message_stop\ndata: {"type":"message_stop"}',
    ]
      .map((frame) => `${frame}\n\n`)
      .join(''),
  },
  gemini: {
    whole: {
      responseId: 'resp-1',
      modelVersion: 'gemini-2.5-flash-001',
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Let me see', thought: true }, { text: 'Hello there' }] },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: {
        promptTokenCount: 10,
        candidatesTokenCount: 4,
        thoughtsTokenCount: 3,
        cachedContentTokenCount: 4,
      },
    },
    stream: [
      '{"responseId":"resp-1","modelVersion":"gemini-2.5-flash-001","candidates":[{"content":{"role":"model","parts":[{"text":"Let me see","thought":true}]}}]}',
      '{"responseId":"resp-1","modelVersion":"gemini-2.5-flash-001","candidates":[{"content":{"role":"model","parts":[{"text":"Hello "}]}}]}',
      '{"responseId":"resp-1","modelVersion":"gemini-2.5-flash-001","candidates":[{"content":{"role":"model","parts":[{"text":"there"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":4,"thoughtsTokenCount":3,"cachedContentTokenCount":4}}',
    ]
      .map((data) => `data: ${data}\r\n\r\n`)
      .join(''),
  },
  ollama: {
    whole: {
      model: 'llama3.2',
      message: { role: 'assistant', content: 'Hello there', thinking: 'Let me see' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 10,
      eval_count: 7,
    },
    stream: [
      '{"model":"llama3.2","message":{"role":"assistant","content":"","thinking":"Let me see"},"done":false}',
      '{"model":"llama3.2","message":{"role":"assistant","content":"Hello "},"done":false}',
      '{"model":"llama3.2","message":{"role":"assistant","content":"there"},"done":false}',
      '{"model":"llama3.2","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":7}',
    ]
      .map((line) => `${line}\n`)
      .join(''),
  },
};

const hello = { messages: [{ role: 'user', content: 'Hi' }] };

describe.each(TARGETS)('%s', (target) => {
  test('answers as a chat completion: text, reasoning, finish reason and usage [C5-translate-text] [C5-translate-reasoning] [C5-translate-finish] [C5-translate-usage]', async () => {
    server.will(answers(200, texts[target].whole));
    const { json } = await ask(target, hello);
    expect(json).toMatchObject({
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello there', reasoning_content: 'Let me see' },
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 },
    });
    if (target !== 'ollama') expect(json.usage.prompt_tokens_details).toEqual({ cached_tokens: 4 });
    const [end] = await hub.ended(1);
    expect(end).toMatchObject({ outcome: 'success', finishReasons: ['stop'], model: json.model });
    expect(end?.tokens).toMatchObject({ prompt: 10, completion: 7, estimated: false });
  });

  test('streams as chunks, cut anywhere [C5-translate-text] [C5-translate-reasoning] [C5-translate-finish] [C5-translate-usage]', async () => {
    const bytes = Buffer.from(texts[target].stream);
    for (const size of [1, 11, bytes.length]) {
      const pieces: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
      server.will(streams(pieces));
      const { text } = await ask(target, { ...hello, stream: true, stream_options: { include_usage: true } });
      const chunks = chunksOf(text);
      expect(chunks[0]).toMatchObject({
        object: 'chat.completion.chunk',
        choices: [{ delta: { role: 'assistant' }, finish_reason: null }],
      });
      expect(joined(chunks, 'content')).toBe('Hello there');
      expect(joined(chunks, 'reasoning_content')).toBe('Let me see');
      expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
      expect(chunks.at(-1)).toMatchObject({
        choices: [],
        usage: { prompt_tokens: 10, completion_tokens: 7 },
      });
    }
    for (const end of await hub.ended(3)) {
      expect(end).toMatchObject({ outcome: 'success', finishReasons: ['stop'] });
      expect(end.tokens).toMatchObject({ prompt: 10, completion: 7, estimated: false });
    }
  });

  test('tells usage in a stream only to a caller that asks [C5-body-include-usage]', async () => {
    server.will(streams([texts[target].stream]));
    const chunks = chunksOf((await ask(target, { ...hello, stream: true })).text);
    expect(chunks.every((chunk) => chunk.choices.length === 1)).toBe(true);
  });

  test('a stream that is cut before its end gains no [DONE], and one error event says so [C5-stream-no-done] [C5-stream-error-frame]', async () => {
    const cut = texts[target].stream.lastIndexOf(target === 'anthropic' ? 'event: message_delta' : '{"');
    const before = target === 'gemini' ? texts[target].stream.lastIndexOf('data: ') : cut;
    server.will(streams([texts[target].stream.slice(0, before)]));
    const { text } = await ask(target, { ...hello, stream: true });
    expect(text).not.toContain('[DONE]');
    expect(text.match(/"code":"upstream_bad_response"/g)).toHaveLength(1);
    expect((await hub.ended(1))[0]).toMatchObject({ outcome: 'error' });
  });

  test("a provider's error has OpenAI's shape and its own status [C5-translate-errors]", async () => {
    const bodies = {
      anthropic: { type: 'error', error: { type: 'invalid_request_error', message: 'too long, the-key' } },
      gemini: { error: { code: 400, message: 'too long, the-key', status: 'INVALID_ARGUMENT' } },
      ollama: { error: 'too long, the-key' },
    };
    for (const stream of [false, true]) {
      server.will(answers(400, bodies[target]));
      const { status, json } = await ask(target, { ...hello, stream });
      expect(status).toBe(400);
      expect(json.error).toMatchObject({ message: 'too long, [REDACTED]', type: 'invalid_request_error' });
    }
  });

  test('an error in the middle of a stream ends it with one error event [C5-translate-errors] [C5-stream-error-frame]', async () => {
    const { stream } = texts[target];
    const parts = stream.split(/(?<=\n\n|\r\n\r\n)/);
    const start =
      target === 'ollama'
        ? `${stream.split('\n').slice(0, 2).join('\n')}\n`
        : parts.slice(0, target === 'anthropic' ? 8 : 2).join('');
    const failures = {
      anthropic:
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy the-key"}}\n\n',
      gemini: 'data: {"error":{"code":503,"message":"Busy the-key","status":"UNAVAILABLE"}}\r\n\r\n',
      ollama: '{"error":"Busy the-key"}\n',
    };
    server.will(streams([start, failures[target]]));
    const { text } = await ask(target, { ...hello, stream: true });
    const frames = text.split('\n\n').filter((frame) => frame !== '');
    expect(JSON.parse(frames.at(-1)?.slice(6) ?? '').error.message).toBe('Busy [REDACTED]');
    expect(text).not.toContain('[DONE]');
    expect((await hub.ended(1))[0]).toMatchObject({ outcome: 'error' });
  });

  test.each([
    [
      'an error as its first event',
      {
        anthropic: 'data: {"type":"error","error":{}}\n\n',
        gemini: 'data: {"error":{}}\n\n',
        ollama: '{"error":"x"}\n',
      },
    ],
    ['no JSON', { anthropic: 'data: hi\n\n', gemini: 'data: hi\n\n', ollama: 'hi\n' }],
    ['nothing', { anthropic: '', gemini: '', ollama: '' }],
  ])('%s is 502 upstream_bad_response [C5-err-bad-response]', async (_name, bodies) => {
    server.will(streams([bodies[target]]));
    const { status, json } = await ask(target, { ...hello, stream: true });
    expect(status).toBe(502);
    expect(json.error.code).toBe('upstream_bad_response');
    server.will(answers(200, '{"unexpected":true}'));
    expect((await ask(target, hello)).json.error.code).toBe('upstream_bad_response');
  });

  test('refuses what it cannot express, before any upstream call', async () => {
    for (const [body, param] of [
      [{ ...hello, n: 2 }, 'n'],
      [{ ...hello, logprobs: true }, 'logprobs'],
      [{ messages: [{ role: 'critic', content: 'x' }] }, 'messages[0].role'],
      [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0]'],
      [{ ...hello, temperature: 'hot' }, 'temperature'],
      [{ ...hello, tools: [{ type: 'web' }] }, 'tools[0]'],
    ] as const) {
      const { status, json } = await ask(target, body);
      expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_request', param]);
    }
    expect(server.received).toHaveLength(0);
  });

  test('has no responses route [C5-not-supported]', async () => {
    const { status, json } = await ask(target, { input: 'x' }, '/v1/responses');
    expect([status, json.error.code]).toEqual([404, 'not_supported']);
  });
});

/** A conversation with everything in it. */
const conversation = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: 'Be kind.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: { name: 'look', arguments: '{"at":"it"}' },
          extra_content: { google: { thought_signature: 'sig' } },
        },
        { id: 'call_2', type: 'function', function: { name: 'wait', arguments: '' } },
      ],
      thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 's' }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '{"seen":"owl"}' },
    { role: 'tool', tool_call_id: 'call_2', content: 'waited' },
    { role: 'user', content: 'Well?' },
  ],
  tools: [
    { type: 'function', function: { name: 'look', description: 'Looks', parameters: { type: 'object' } } },
  ],
  max_completion_tokens: 100,
  temperature: 0.5,
  top_p: 0.9,
  stop: 'END',
  user: 'u1',
  store: true,
};

describe('what goes out', () => {
  test('to Anthropic [C5-provider-anthropic] [C5-translate-images] [C5-translate-tools]', async () => {
    server.will(answers(200, texts.anthropic.whole));
    await ask('anthropic', {
      ...conversation,
      tool_choice: 'required',
      parallel_tool_calls: false,
      top_k: 5,
    });
    const { url, headers, json } = await sent();
    expect(url).toBe('/v1/messages');
    expect(headers['x-api-key']).toBe('the-key');
    expect(headers['anthropic-version']).toBe('2023-06-01');
    expect(headers.authorization).toBeUndefined();
    expect(json).toEqual({
      model: 'claude-sonnet-4-5',
      max_tokens: 100,
      system: 'Be brief.\n\nBe kind.',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
            { type: 'tool_use', id: 'call_2', name: 'wait', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: [{ type: 'text', text: '{"seen":"owl"}' }],
            },
            { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: 'waited' }] },
            { type: 'text', text: 'Well?' },
          ],
        },
      ],
      tools: [{ name: 'look', description: 'Looks', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      temperature: 0.5,
      top_p: 0.9,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      top_k: 5,
    });
  });

  test.each<[string, object, object]>([
    [
      'a budget on top of the default limit',
      { reasoning_effort: 'low' },
      { thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 8192 + 2048 },
    ],
    [
      'a budget within the limit',
      { reasoning_effort: 'high', max_tokens: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 2000 }, max_tokens: 4000 },
    ],
    ['none under a small limit', { reasoning_effort: 'high', max_tokens: 1000 }, { max_tokens: 1000 }],
    ['none for none', { reasoning_effort: 'none' }, { max_tokens: 8192 }],
    [
      'the own way',
      { reasoning_effort: 'low', thinking: { type: 'disabled' } },
      { thinking: { type: 'disabled' } },
    ],
    [
      'an effort for models that adapt',
      { model: 'claude-opus-4-8', reasoning_effort: 'high' },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    [
      'a schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } } },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ],
  ])('reasoning and formats to Anthropic: %s [C5-translate-reasoning]', async (_name, members, expected) => {
    server.will(answers(200, texts.anthropic.whole));
    await ask('anthropic', { ...hello, ...members });
    const { json } = await sent();
    expect(json).toMatchObject(expected);
    expect('thinking' in json).toBe('thinking' in expected);
  });

  test('to Gemini, with the key in a header and never in the URL [C5-provider-gemini] [C5-translate-images] [C5-translate-tools]', async () => {
    server.will(answers(200, texts.gemini.whole));
    await ask('gemini', {
      ...conversation,
      tool_choice: { type: 'function', function: { name: 'look' } },
      reasoning_effort: 'low',
      response_format: { type: 'json_object' },
      safetySettings: [],
    });
    const { url, headers, json } = await sent();
    expect(url).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(headers['x-goog-api-key']).toBe('the-key');
    expect(json).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
        },
        {
          role: 'model',
          parts: [
            { functionCall: { id: 'call_1', name: 'look', args: { at: 'it' } }, thoughtSignature: 'sig' },
            { functionCall: { id: 'call_2', name: 'wait', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'call_1', name: 'look', response: { seen: 'owl' } } },
            { functionResponse: { id: 'call_2', name: 'wait', response: { result: 'waited' } } },
            { text: 'Well?' },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'look', description: 'Looks', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } },
      generationConfig: {
        maxOutputTokens: 100,
        temperature: 0.5,
        topP: 0.9,
        stopSequences: ['END'],
        responseMimeType: 'application/json',
        thinkingConfig: { thinkingBudget: 1024, includeThoughts: true },
      },
      safetySettings: [],
    });
  });

  test("to Gemini, streamed, with the target's own limit [C5-provider-gemini]", async () => {
    server.will(streams([texts.gemini.stream]));
    await ask('gemini', { ...hello, model: 'gemini-3-pro', stream: true });
    const { url, json } = await sent();
    expect(url).toBe('/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse');
    expect(json.generationConfig).toEqual({ maxOutputTokens: 50 });
  });

  test('to Ollama [C5-provider-ollama] [C5-translate-images] [C5-translate-tools]', async () => {
    server.will(answers(200, texts.ollama.whole));
    await ask('ollama', {
      ...conversation,
      reasoning_effort: 'high',
      keep_alive: '5m',
      options: { num_ctx: 4096 },
    });
    const { url, headers, json } = await sent();
    expect(url).toBe('/api/chat');
    expect(headers.authorization).toBe('Bearer the-key');
    expect(json).toEqual({
      model: 'llama3.2',
      stream: false,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'What is this?', images: ['AAAA'] },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: 'call_1', function: { name: 'look', arguments: { at: 'it' } } },
            { id: 'call_2', function: { name: 'wait', arguments: {} } },
          ],
        },
        { role: 'tool', content: '{"seen":"owl"}', tool_name: 'look', tool_call_id: 'call_1' },
        { role: 'tool', content: 'waited', tool_name: 'wait', tool_call_id: 'call_2' },
        { role: 'user', content: 'Well?' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks', parameters: { type: 'object' } },
        },
      ],
      think: 'high',
      options: { num_predict: 100, temperature: 0.5, top_p: 0.9, stop: ['END'], num_ctx: 4096 },
      keep_alive: '5m',
    });
  });
});

describe('tool calls', () => {
  const whole: Record<Target, unknown> = {
    anthropic: {
      id: 'msg_1',
      type: 'message',
      model: 'm',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'it' } },
        { type: 'tool_use', id: 'toolu_2', name: 'wait', input: {} },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
    gemini: {
      candidates: [
        {
          content: {
            parts: [
              { text: 'Looking.' },
              { functionCall: { id: 'f1', name: 'look', args: { at: 'it' } }, thoughtSignature: 'sig' },
              { functionCall: { name: 'wait' } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
    },
    ollama: {
      model: 'm',
      message: {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: [
          { function: { name: 'look', arguments: { at: 'it' } } },
          { function: { name: 'wait', arguments: {} } },
        ],
      },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 1,
      eval_count: 1,
    },
  };

  test.each(TARGETS)(
    'of %s are those of a chat completion, whole and streamed [C5-translate-tools] [C5-translate-finish]',
    async (target) => {
      server.will(answers(200, whole[target]));
      const { json } = await ask(target, hello);
      const [choice] = json.choices;
      expect(choice.finish_reason).toBe('tool_calls');
      expect(choice.message.content).toBe('Looking.');
      expect(choice.message.tool_calls).toMatchObject([
        { type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } },
        { type: 'function', function: { name: 'wait', arguments: '{}' } },
      ]);
      const ids = choice.message.tool_calls.map((call: { id: string }) => call.id);
      expect(new Set(ids).size).toBe(2);
      if (target === 'gemini') {
        expect(choice.message.tool_calls[0].extra_content).toEqual({ google: { thought_signature: 'sig' } });
      }

      const block = (index: number, id: string, name: string, pieces: string[]) =>
        [
          { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
          ...pieces.map((partial) => ({
            type: 'content_block_delta',
            index,
            delta: { type: 'input_json_delta', partial_json: partial },
          })),
          { type: 'content_block_stop', index },
        ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
      const streamed: Record<Target, string> = {
        anthropic: [
          'data: {"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
          ...block(0, 'toolu_1', 'look', ['', '{"at"', ':"it"}']),
          ...block(1, 'toolu_2', 'wait', ['{}']),
          'data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}\n\n',
          'data: {"type":"message_stop"}\n\n',
        ].join(''),
        gemini: `data: ${JSON.stringify(whole.gemini)}\n\n`,
        ollama: `${JSON.stringify(whole.ollama)}\n`,
      };
      server.will(streams([streamed[target]]));
      const chunks = chunksOf((await ask(target, { ...hello, stream: true })).text);
      const calls: { id: string; name: string; arguments: string }[] = [];
      for (const chunk of chunks) {
        for (const call of chunk.choices[0].delta.tool_calls ?? []) {
          if (call.id !== undefined)
            calls[call.index] = { id: call.id, name: call.function.name, arguments: '' };
          const known = calls[call.index];
          if (known !== undefined) known.arguments += call.function.arguments;
        }
      }
      expect(calls.map(({ name, arguments: text }) => [name, JSON.parse(text)])).toEqual([
        ['look', { at: 'it' }],
        ['wait', {}],
      ]);
      expect(chunks.at(-1)?.choices[0].finish_reason).toBe('tool_calls');
    },
  );
});

describe('what only one of them does', () => {
  test('a wrong key is a 400 of Gemini, and 502 upstream_auth_failed of the hub [C5-err-auth]', async () => {
    server.will(
      answers(400, {
        error: {
          code: 400,
          message: 'API key not valid.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      }),
    );
    const { status, json } = await ask('gemini', hello);
    expect([status, json.error.code]).toEqual([502, 'upstream_auth_failed']);
  });

  test('a prompt that Gemini blocks is an empty answer that was filtered [C5-translate-finish]', async () => {
    server.will(
      answers(200, { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } }),
    );
    const { json } = await ask('gemini', hello);
    expect(json.choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'content_filter' });
  });

  test.each<[Target, unknown, string]>([
    ['anthropic', { ...(texts.anthropic.whole as object), stop_reason: 'max_tokens' }, 'length'],
    ['anthropic', { ...(texts.anthropic.whole as object), stop_reason: 'refusal' }, 'content_filter'],
    ['gemini', { candidates: [{ content: { parts: [] }, finishReason: 'MAX_TOKENS' }] }, 'length'],
    ['gemini', { candidates: [{ finishReason: 'RECITATION' }] }, 'content_filter'],
    ['ollama', { ...(texts.ollama.whole as object), done_reason: 'length' }, 'length'],
  ])('%s: a finish reason in OpenAI’s words (%j) [C5-translate-finish]', async (target, body, reason) => {
    server.will(answers(200, body));
    expect((await ask(target, hello)).json.choices[0].finish_reason).toBe(reason);
  });

  test('Gemini and Ollama embed, as numbers or base64 [C5-embeddings]', async () => {
    server.will(answers(200, { embeddings: [{ values: [0.5, 1] }, { values: [0, -1] }] }));
    const floats = await ask('gemini', { input: ['a', 'b'], dimensions: 2 }, '/v1/embeddings');
    expect(floats.json.data).toEqual([
      { object: 'embedding', index: 0, embedding: [0.5, 1] },
      { object: 'embedding', index: 1, embedding: [0, -1] },
    ]);
    expect((await sent()).url).toBe('/v1beta/models/gemini-2.5-flash:batchEmbedContents');
    server.will(answers(200, { model: 'e', embeddings: [[0.5, 1]], prompt_eval_count: 2 }));
    const base64 = await ask('ollama', { input: 'a', encoding_format: 'base64' }, '/v1/embeddings');
    expect(base64.json.data[0].embedding).toBe(
      Buffer.from(Float32Array.of(0.5, 1).buffer).toString('base64'),
    );
    expect((await hub.ended(2)).map((end) => end.tokens)).toEqual([
      { prompt: 2, completion: 0, estimated: true },
      { prompt: 2, completion: 0, estimated: false },
    ]);
  });
});
