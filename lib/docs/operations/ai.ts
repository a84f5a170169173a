import { json, type Operation, type OperationGroup, target } from '../operation.ts';

const sse = { contentType: 'text/event-stream' };
const upstream = [
  'upstream_auth_failed',
  'upstream_unavailable',
  'upstream_bad_response',
  'upstream_timeout',
  'ailink_unavailable',
  'overloaded',
] as const;
const refused = [
  'invalid_request',
  'invalid_json',
  'target_required',
  'model_not_allowed',
  'target_not_found',
  'not_supported',
  'body_too_large',
  'unsupported_media_type',
] as const;

function call(
  path: string,
  summary: string,
  request: string,
  answer: string,
  more: Partial<Operation> = {},
): Operation {
  const streams = request !== 'EmbeddingsRequest';
  return {
    method: 'post',
    path,
    summary,
    access: 'main',
    parameters: [{ ...target('Id of the AI target; else `model` names it.', false), example: 'echo' }],
    body: { contentType: 'application/json', schema: request, required: true },
    answers: {
      200: {
        description: streams ? 'The answer, or with `stream: true` its events.' : 'The answer.',
        bodies: [{ contentType: 'application/json', schema: answer }, ...(streams ? [sse] : [])],
      },
    },
    errors: [...refused, ...upstream],
    ...more,
  };
}

export const aiOperations: OperationGroup = {
  name: 'AI',
  description:
    "AI providers behind one address, in OpenAI's protocol whatever they speak themselves. Bodies go on as they are written.",
  operations: [
    call('/v1/chat/completions', 'Ask a model', 'ChatRequest', 'ChatCompletion', {
      description:
        'Answers carry `x-hub-target` (who answered, after a fallback perhaps) and `x-hub-overhead-ms`. A failure after the first byte of a stream is one `data: {"error":…}` event, and no `[DONE]` follows.',
    }),
    call('/v1/completions', 'Complete a text', 'CompletionRequest', 'Completion'),
    call('/v1/embeddings', 'Embed texts', 'EmbeddingsRequest', 'Embeddings'),
    call('/v1/responses', 'Ask by the Responses API', 'ResponsesRequest', 'Completion'),
    {
      method: 'get',
      path: '/v1/models',
      summary: 'List the targets',
      access: 'main',
      answers: { 200: json('The targets, in the shape of models.', 'ModelList') },
      errors: ['ailink_unavailable'],
    },
    {
      method: 'get',
      path: '/v1/models/{id}',
      summary: 'Show one target',
      access: 'main',
      parameters: [
        { in: 'path', name: 'id', description: 'Id of the target.', required: true, example: 'echo' },
      ],
      answers: { 200: json('The target.', 'Model') },
      errors: ['model_not_found', 'ailink_unavailable'],
    },
  ],
};
