import { estimatePromptTokens } from '../../body/estimate-tokens.ts';
import type { ReportedUsage } from '../../call-facts.ts';
import { isObject, type JsonObject, parsedObject } from '../../json.ts';
import {
  type AnsweredToolCall,
  chatCompletion,
  embeddingList,
  newId,
} from '../../openai-wire/chat-answer.ts';
import { BadAnswer, type ProviderCall, type ProviderResponse } from '../provider.ts';

/** An answer of `/api/chat` as a chat completion, or of `/api/embed` as a list of embeddings. */
export const response: ProviderResponse = {
  read(body, facts, call) {
    const document = parsedObject(body);
    if (document === undefined) throw new BadAnswer('not a JSON object');
    if (call.request.operation === 'embeddings') {
      facts.model = modelOf(document, call);
      facts.usage = {
        prompt: countOf(document.prompt_eval_count) ?? estimatePromptTokens(call.request.document),
        completion: 0,
      };
      return embeddingsOf(document, call, facts.usage.prompt);
    }
    const { message } = document;
    if (!isObject(message)) throw new BadAnswer('an answer without a message');
    const toolCalls = toolCallsOf(message);
    return chatCompletion(
      {
        id: newId('chatcmpl-'),
        model: modelOf(document, call),
        text: String(message.content ?? ''),
        reasoning: String(message.thinking ?? ''),
        thinkingBlocks: [],
        toolCalls,
        finishReason: finishReasonOf(document.done_reason, toolCalls.length > 0),
      },
      usageOf(document),
      facts,
    );
  },
};

export function finishReasonOf(reason: unknown, hasToolCalls: boolean): string {
  if (reason === 'length') return 'length';
  return hasToolCalls ? 'tool_calls' : 'stop';
}

export function toolCallsOf(message: JsonObject): AnsweredToolCall[] {
  if (!Array.isArray(message.tool_calls)) return [];
  return message.tool_calls.flatMap((call) => {
    const called = isObject(call) ? call.function : undefined;
    if (!isObject(call) || !isObject(called)) return [];
    return [
      {
        id: typeof call.id === 'string' && call.id !== '' ? call.id : newId('call_'),
        name: String(called.name),
        arguments: JSON.stringify(called.arguments ?? {}),
      },
    ];
  });
}

export function usageOf(document: JsonObject): ReportedUsage | undefined {
  const prompt = countOf(document.prompt_eval_count);
  const completion = countOf(document.eval_count);
  return prompt === undefined || completion === undefined ? undefined : { prompt, completion };
}

export function modelOf(document: JsonObject, call: ProviderCall): string {
  return typeof document.model === 'string' ? document.model : (call.model ?? '');
}

function embeddingsOf(document: JsonObject, call: ProviderCall, promptTokens: number): Buffer {
  const vectors = document.embeddings;
  if (!Array.isArray(vectors) || !vectors.every((vector) => Array.isArray(vector))) {
    throw new BadAnswer('an answer without embeddings');
  }
  const isBase64 = call.request.document.encoding_format === 'base64';
  return embeddingList(vectors, modelOf(document, call), promptTokens, isBase64);
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
