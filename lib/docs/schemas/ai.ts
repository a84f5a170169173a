import { Type } from '@sinclair/typebox';
import { answer, anything, oneOf, ref, text, whole } from './vocabulary.ts';

const model = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'A target id, `<target id>/<model>`, or beside `x-target` a model of it. Left out: the configured model of the target.',
  }),
);
const stream = Type.Optional(
  Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'Answer as server-sent events.' }),
);
const rest = { additionalProperties: true };

/** Requests are checked as far as the hub must know them; everything else goes on as it is written. */
export const aiSchemas = {
  ChatRequest: Type.Object(
    {
      messages: Type.Array(anything('A message: `role` and `content`, and whatever the provider knows.'), {
        description: 'The conversation so far.',
        examples: [[{ role: 'user', content: 'Hello, hub' }]],
      }),
      model,
      stream,
      stream_options: Type.Optional(
        anything('`include_usage: true` adds a last chunk with the tokens used.'),
      ),
      max_completion_tokens: Type.Optional(whole('Left out: the default of the target, if it has one.')),
      tools: Type.Optional(Type.Array(anything('A function that the model may call.'))),
    },
    rest,
  ),
  CompletionRequest: Type.Object({ prompt: Type.Unknown(), model, stream }, rest),
  EmbeddingsRequest: Type.Object(
    { input: Type.Unknown({ description: 'A text, or a list of them.' }), model },
    rest,
  ),
  ResponsesRequest: Type.Object({ input: Type.Unknown(), model, stream }, rest),
  Tokens: answer({
    prompt_tokens: whole(),
    completion_tokens: Type.Optional(whole()),
    total_tokens: whole(),
  }),
  ChatCompletion: answer({
    id: text(),
    object: oneOf(['chat.completion']),
    created: whole('Seconds since the epoch.'),
    model: text('As the provider reports it.'),
    choices: Type.Array(
      answer({
        index: whole(),
        message: anything('`role`, `content`, and perhaps `tool_calls`.'),
        finish_reason: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'stop, length, tool_calls, content_filter, …',
        }),
      }),
    ),
    usage: Type.Optional(ref('Tokens')),
  }),
  Embeddings: answer({
    object: oneOf(['list']),
    data: Type.Array(anything('`index` and `embedding`.')),
    model: text(),
    usage: Type.Optional(ref('Tokens')),
  }),
  Completion: anything('As the provider gives it.'),
  Model: answer({
    id: text('Of the target.'),
    object: oneOf(['model']),
    created: whole(),
    owned_by: text('Provider.'),
  }),
  ModelList: answer({ object: oneOf(['list']), data: Type.Array(ref('Model')) }),
};
