import { describe, expect, test } from '@jest/globals';
import { readAiRequest } from '../../../lib/ai/body/ai-request.ts';
import { estimatePromptTokens } from '../../../lib/ai/body/estimate-tokens.ts';

const read = (text: string | Buffer) => readAiRequest('chat.completions', Buffer.from(text));

describe('reading a request body', () => {
  test.each<[string | Buffer, string, string | undefined]>([
    ['', 'invalid_json', undefined],
    ['{', 'invalid_json', undefined],
    ['{"messages":[]} x', 'invalid_json', undefined],
    ['\uFEFF{"messages":[]}', 'invalid_json', undefined],
    [Buffer.from('{"messages":["\xff"]}', 'latin1'), 'invalid_json', undefined],
    ['[]', 'invalid_request', undefined],
    ['null', 'invalid_request', undefined],
    ['"messages"', 'invalid_request', undefined],
    ['{}', 'invalid_request', 'messages'],
    ['{"messages":{}}', 'invalid_request', 'messages'],
    ['{"messages":null}', 'invalid_request', 'messages'],
    ['{"messages":[],"model":1}', 'invalid_request', 'model'],
    ['{"messages":[],"stream":"true"}', 'invalid_request', 'stream'],
    ['{"messages":[],"stream":true,"stream":false}', 'invalid_request', 'stream'],
    ['{"messages":[],"max_tokens":1,"max\\u005ftokens":1}', 'invalid_request', 'max_tokens'],
  ])(
    'refuses %s as %s [C5-body-not-object] [C5-body-utf8] [C5-messages] [C5-body-owned-twice]',
    (text, code, param) => {
      expect(() => read(text)).toThrow(expect.objectContaining({ code, param, status: 400 }));
    },
  );

  test('knows what matters', () => {
    expect(
      read('{"messages":[],"model":"m","stream":true,"stream_options":{"include_usage":true}}'),
    ).toMatchObject({
      model: 'm',
      stream: true,
      wantsUsage: true,
    });
    expect(read('{"messages":[],"model":null,"stream":null,"stream_options":null}')).toMatchObject({
      model: undefined,
      stream: false,
      wantsUsage: false,
    });
  });

  test('estimates prompts by their texts: messages, parts, images, prompts and inputs', () => {
    const estimate = (
      operation: 'chat.completions' | 'completions' | 'embeddings' | 'responses',
      body: object,
    ) => estimatePromptTokens(readAiRequest(operation, Buffer.from(JSON.stringify(body))).document);
    expect(estimate('chat.completions', { messages: [{ role: 'user', content: 'x'.repeat(40) }] })).toBe(14);
    expect(
      estimate('chat.completions', {
        messages: [
          { content: [{ type: 'text', text: 'x'.repeat(8) }, { type: 'image_url', image_url: {} }, null] },
          null,
          3,
        ],
      }),
    ).toBe(4 + 2 + 85 + 85 + 1);
    expect(estimate('completions', { prompt: 'x'.repeat(9) })).toBe(3);
    expect(estimate('embeddings', { input: ['abcd', [1, 2, 3], 5] })).toBe(1 + 3 + 1);
    expect(estimate('responses', { instructions: 'abcd', input: 'abcdefgh' })).toBe(3);
    expect(estimate('responses', {})).toBe(0);
  });
});
