import type { CallFacts, ReportedUsage } from '../call-facts.ts';

/** A tool call of an answer in OpenAI's shape, without its place in a list. */
export interface AnsweredToolCall {
  id: string;
  name: string;
  /** JSON text. */
  arguments: string;
  /** Sent along as `extra_content`, to be given back by the caller. */
  extra?: object;
}

/** An answer of a provider with a protocol of its own, in neutral words. */
export interface ChatAnswer {
  id: string;
  model: string;
  text: string;
  reasoning: string;
  /** The provider's own form of the reasoning, which the caller may give back. */
  thinkingBlocks: readonly unknown[];
  toolCalls: readonly AnsweredToolCall[];
  finishReason: string;
}

/** The chat completion of an answer. Notes its facts. */
export function chatCompletion(
  answer: ChatAnswer,
  usage: ReportedUsage | undefined,
  facts: CallFacts,
): Buffer {
  facts.model = answer.model;
  facts.usage = usage;
  facts.finishReasons.push(answer.finishReason);
  facts.completionChars = answer.text.length + answer.reasoning.length;
  return Buffer.from(
    JSON.stringify({
      id: answer.id,
      object: 'chat.completion',
      created: seconds(),
      model: answer.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: answer.text === '' && answer.toolCalls.length > 0 ? null : answer.text,
            refusal: null,
            ...(answer.reasoning !== '' && { reasoning_content: answer.reasoning }),
            ...(answer.thinkingBlocks.length > 0 && { thinking_blocks: answer.thinkingBlocks }),
            ...(answer.toolCalls.length > 0 && { tool_calls: answer.toolCalls.map(toolCall) }),
          },
          logprobs: null,
          finish_reason: answer.finishReason,
        },
      ],
      usage: usage === undefined ? null : usageObject(usage),
    }),
  );
}

export function toolCall({ id, name, arguments: text, extra }: AnsweredToolCall): object {
  return {
    id,
    type: 'function',
    function: { name, arguments: text },
    ...(extra !== undefined && { extra_content: extra }),
  };
}

export function usageObject({ prompt, completion, cached, reasoning }: ReportedUsage): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

/** The list of embeddings in OpenAI's shape. */
export function embeddingList(
  vectors: readonly (readonly number[])[],
  model: string,
  promptTokens: number,
  isBase64: boolean,
): Buffer {
  return Buffer.from(
    JSON.stringify({
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: isBase64 ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector,
      })),
      model,
      usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
    }),
  );
}

export function newId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '');
}

export function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
