import { describe, expect, test } from '@jest/globals';
import { readAiRequest } from '../../../lib/ai/body/ai-request.ts';
import { type BodyChanges, editBody } from '../../../lib/ai/body/edit-body.ts';
import type { Operation } from '../../../lib/ai/operations.ts';

const nothing: BodyChanges = {
  model: undefined,
  maxTokens: undefined,
  maxTokensField: 'max_completion_tokens',
  askUsage: false,
};

function edit(
  text: string,
  changes: Partial<BodyChanges>,
  operation: Operation = 'chat.completions',
): string {
  return editBody(readAiRequest(operation, Buffer.from(text)), { ...nothing, ...changes }).toString();
}

/** Members that nobody may touch: numbers past a double, escapes, duplicates, white space, unknown names. */
const odd =
  '"seed":12345678901234567890,"x":0.10000000000000000001,"y":1e400,"z":"\\u00e4\\/","z":"🦉" , "messages" : [ ]';

describe('editing a body', () => {
  test.each<[string, string, Partial<BodyChanges>, string]>([
    ['nothing to do', `{${odd}}`, {}, `{${odd}}`],
    ['adds a model', `{${odd}}`, { model: 'm"1' }, `{"model":"m\\"1",${odd}}`],
    ['replaces a model in place', `{${odd}, "model" : "a" }`, { model: 'ü' }, `{${odd}, "model" : "ü" }`],
    ['replaces a null model', `{"model":null,${odd}}`, { model: 'm' }, `{"model":"m",${odd}}`],
    [
      'replaces an escaped key in place',
      `{"mod\\u0065l":"a",${odd}}`,
      { model: 'm' },
      `{"mod\\u0065l":"m",${odd}}`,
    ],
    ['adds the limit', `{${odd}}`, { maxTokens: 5 }, `{"max_completion_tokens":5,${odd}}`],
    [
      'adds the limit under the name that the provider knows',
      `{${odd}}`,
      { maxTokens: 5, maxTokensField: 'max_tokens' },
      `{"max_tokens":5,${odd}}`,
    ],
    [
      'not beside its own',
      `{"max_completion_tokens":1,${odd}}`,
      { maxTokens: 5 },
      `{"max_completion_tokens":1,${odd}}`,
    ],
    ['not beside max_tokens', `{"max_tokens":1,${odd}}`, { maxTokens: 5 }, `{"max_tokens":1,${odd}}`],
    [
      'gives its own limit the name that the provider knows',
      `{"max_completion_tokens":1,${odd}}`,
      { maxTokens: 5, maxTokensField: 'max_tokens' },
      `{"max_tokens":1,${odd}}`,
    ],
    [
      'asks a stream for usage',
      `{"stream":true,${odd}}`,
      { askUsage: true },
      `{"stream_options":{"include_usage":true},"stream":true,${odd}}`,
    ],
    ['asks nobody else', `{"stream":false,${odd}}`, { askUsage: true }, `{"stream":false,${odd}}`],
    [
      'within options that say no',
      `{"stream":true,"stream_options":{ "a":1.0, "include_usage" : false },${odd}}`,
      { askUsage: true },
      `{"stream":true,"stream_options":{ "a":1.0, "include_usage" : true },${odd}}`,
    ],
    [
      'within options that do not say',
      `{"stream":true,"stream_options":{ "a":1.0 },${odd}}`,
      { askUsage: true },
      `{"stream":true,"stream_options":{"include_usage":true, "a":1.0 },${odd}}`,
    ],
    [
      'within empty options',
      `{"stream":true,"stream_options":{},${odd}}`,
      { askUsage: true },
      `{"stream":true,"stream_options":{"include_usage":true},${odd}}`,
    ],
    [
      'instead of null',
      `{"stream":true,"stream_options":null,${odd}}`,
      { askUsage: true },
      `{"stream":true,"stream_options":{"include_usage":true},${odd}}`,
    ],
    [
      'several at once, in any order',
      `{"stream_options":{},${odd},"stream":true,"max_completion_tokens":9,"model":"long name"}`,
      { model: 'm', maxTokens: 3, maxTokensField: 'max_tokens', askUsage: true },
      `{"stream_options":{"include_usage":true},${odd},"stream":true,"max_tokens":9,"model":"m"}`,
    ],
  ])(
    '%s [C5-body-forwarded] [C5-body-literals] [C5-body-max-tokens] [C5-body-owned-escaped] [C2-max-tokens-field]',
    (_name, text, changes, expected) => {
      expect(edit(text, changes)).toBe(expected);
    },
  );

  test('the other operations have limits of their own names, or none', () => {
    expect(edit('{"input":"x"}', { maxTokens: 5 }, 'responses')).toBe('{"max_output_tokens":5,"input":"x"}');
    expect(edit('{}', { maxTokens: 5 }, 'completions')).toBe('{"max_tokens":5}');
    expect(edit('{"input":"x"}', { maxTokens: 5, askUsage: true }, 'embeddings')).toBe('{"input":"x"}');
    expect(edit('{"stream":true}', { askUsage: true }, 'responses')).toBe('{"stream":true}');
  });

  test('an empty object stays valid', () => {
    expect(edit('{ }', { model: 'm', maxTokens: 1 }, 'completions')).toBe('{"model":"m","max_tokens":1 }');
  });

  test('include_usage twice within stream_options is refused [C5-body-owned-twice]', () => {
    const text =
      '{"messages":[],"stream":true,"stream_options":{"include_usage":false,"include_us\\u0061ge":false}}';
    expect(() => edit(text, { askUsage: true })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'stream_options.include_usage' }),
    );
  });
});
