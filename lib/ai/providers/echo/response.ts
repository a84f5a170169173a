import { createHash } from 'node:crypto';
import type { EchoReply } from './reply.ts';

export { relayedAnswer as response } from '../../openai-wire/relayed-answer.ts';

/** The JSON text of an answer that is not streamed. */
export function wholeAnswer(reply: EchoReply): string {
  return JSON.stringify(BODIES[reply.operation](reply));
}

const BODIES: Record<EchoReply['operation'], (reply: EchoReply) => object> = {
  'chat.completions': (reply) => ({
    id: newId('chatcmpl-'),
    object: 'chat.completion',
    created: seconds(),
    model: reply.model,
    choices: reply.texts.map((content, index) => ({
      index,
      message: {
        role: 'assistant',
        content: reply.toolCall === undefined ? content : null,
        refusal: null,
        ...(reply.toolCall !== undefined && {
          tool_calls: [{ id: newId('call_'), type: 'function', function: reply.toolCall }],
        }),
      },
      logprobs: null,
      finish_reason: reply.finishReason,
    })),
    usage: usageOf(reply),
  }),
  completions: (reply) => ({
    id: newId('cmpl-'),
    object: 'text_completion',
    created: seconds(),
    model: reply.model,
    choices: reply.texts.map((text, index) => ({
      index,
      text,
      logprobs: null,
      finish_reason: reply.finishReason,
    })),
    usage: usageOf(reply),
  }),
  embeddings: (reply) => ({
    object: 'list',
    data: reply.texts.map((text, index) => {
      const vector = vectorOf(text, reply.dimensions);
      const embedding = reply.isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
      return { object: 'embedding', index, embedding };
    }),
    model: reply.model,
    usage: { prompt_tokens: reply.promptTokens, total_tokens: reply.promptTokens },
  }),
  responses: (reply) => responseObject(reply, newId('resp_'), [outputMessage(reply, newId('msg_'))]),
};

/** The response object of the responses route, in progress while it has no output. */
export function responseObject(reply: EchoReply, id: string, output: object[]): object {
  const isDone = output.length > 0;
  const isCut = reply.finishReason === 'length';
  return {
    id,
    object: 'response',
    created_at: seconds(),
    status: isDone ? (isCut ? 'incomplete' : 'completed') : 'in_progress',
    error: null,
    incomplete_details: isDone && isCut ? { reason: 'max_output_tokens' } : null,
    instructions: null,
    metadata: {},
    model: reply.model,
    output,
    parallel_tool_calls: true,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: isDone
      ? {
          input_tokens: reply.promptTokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: reply.completionTokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: reply.promptTokens + reply.completionTokens,
        }
      : null,
  };
}

export function outputMessage(reply: EchoReply, id: string): object {
  return {
    id,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: reply.texts[0] ?? '', annotations: [] }],
  };
}

export function usageOf({ promptTokens, completionTokens }: EchoReply): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

export function newId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '');
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000);
}

/** A vector of length 1 that depends on nothing but the text. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  let norm = 0;
  for (let block = 0; block * 16 < dimensions; block += 1) {
    const digest = createHash('sha256').update(`${block}:${text}`).digest();
    for (let index = 0; index < 16 && block * 16 + index < dimensions; index += 1) {
      const value = digest.readInt16LE(index * 2) / 32_768;
      vector[block * 16 + index] = value;
      norm += value * value;
    }
  }
  const scale = norm === 0 ? 1 : 1 / Math.sqrt(norm);
  return vector.map((value) => value * scale);
}
