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

/** A GenerateContentResponse as a chat completion, or a batch of embeddings as a list. */
export const response: ProviderResponse = {
  read(body, facts, call) {
    const document = parsedObject(body);
    if (document === undefined) throw new BadAnswer('not a JSON object');
    if (call.request.operation === 'embeddings') {
      facts.model = call.model;
      return embeddingsOf(document, call);
    }
    const candidate = candidateOf(document);
    if (candidate === undefined) throw new BadAnswer('neither a candidate nor a reason for having none');
    return chatCompletion(
      {
        id: idOf(document),
        model: modelOf(document, call),
        text: candidate.text,
        reasoning: candidate.reasoning,
        thinkingBlocks: [],
        toolCalls: candidate.toolCalls,
        finishReason: candidate.finishReason ?? 'stop',
      },
      usageOf(document.usageMetadata),
      facts,
    );
  },
};

export interface Candidate {
  text: string;
  reasoning: string;
  toolCalls: AnsweredToolCall[];
  /** Undefined while a stream goes on. */
  finishReason: string | undefined;
}

/**
 * What the first candidate says, in this event or at all. A prompt that was blocked has no candidate and is an empty
 * answer with reason `content_filter`. Undefined when the document says nothing of the kind.
 */
export function candidateOf(document: JsonObject, hadToolCalls = false): Candidate | undefined {
  const [first] = Array.isArray(document.candidates) ? document.candidates : [];
  const candidate: Candidate = { text: '', reasoning: '', toolCalls: [], finishReason: undefined };
  if (!isObject(first)) {
    const feedback = document.promptFeedback;
    if (!isObject(feedback) || feedback.blockReason === undefined) return undefined;
    return { ...candidate, finishReason: 'content_filter' };
  }
  const parts = isObject(first.content) && Array.isArray(first.content.parts) ? first.content.parts : [];
  for (const part of parts) {
    if (!isObject(part)) continue;
    if (isObject(part.functionCall))
      candidate.toolCalls.push(toolCallOf(part.functionCall, part.thoughtSignature));
    else if (typeof part.text !== 'string') continue;
    else if (part.thought === true) candidate.reasoning += part.text;
    else candidate.text += part.text;
  }
  if (typeof first.finishReason === 'string') {
    const calls = hadToolCalls || candidate.toolCalls.length > 0;
    candidate.finishReason = finishReasonOf(first.finishReason, calls);
  }
  return candidate;
}

const LENGTH = new Set(['MAX_TOKENS']);
const FILTERED = new Set([
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE'],
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
]);

function finishReasonOf(reason: string, hasToolCalls: boolean): string {
  if (LENGTH.has(reason)) return 'length';
  if (FILTERED.has(reason)) return 'content_filter';
  return hasToolCalls ? 'tool_calls' : 'stop';
}

function toolCallOf(call: JsonObject, signature: unknown): AnsweredToolCall {
  return {
    id: typeof call.id === 'string' && call.id !== '' ? call.id : newId('call_'),
    name: String(call.name),
    arguments: JSON.stringify(call.args ?? {}),
    ...(signature !== undefined && { extra: { google: { thought_signature: signature } } }),
  };
}

/** Thoughts are counted beside the candidates; OpenAI's completion holds both. */
export function usageOf(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage) || typeof usage.promptTokenCount !== 'number') return undefined;
  const count = (name: string) => (typeof usage[name] === 'number' ? usage[name] : 0);
  const reasoning = count('thoughtsTokenCount');
  return {
    prompt: usage.promptTokenCount + count('toolUsePromptTokenCount'),
    completion: count('candidatesTokenCount') + reasoning,
    ...(usage.cachedContentTokenCount !== undefined && { cached: count('cachedContentTokenCount') }),
    ...(usage.thoughtsTokenCount !== undefined && { reasoning }),
  };
}

export function idOf(document: JsonObject): string {
  return typeof document.responseId === 'string' ? document.responseId : newId('chatcmpl-');
}

export function modelOf(document: JsonObject, call: ProviderCall): string {
  return typeof document.modelVersion === 'string' ? document.modelVersion : (call.model ?? '');
}

function embeddingsOf(document: JsonObject, { request, model }: ProviderCall): Buffer {
  const list = Array.isArray(document.embeddings) ? document.embeddings : [];
  const vectors = list.map((entry) => (isObject(entry) ? entry.values : undefined));
  if (vectors.length === 0 || !vectors.every((vector) => Array.isArray(vector))) {
    throw new BadAnswer('embeddings without values');
  }
  const isBase64 = request.document.encoding_format === 'base64';
  return embeddingList(vectors as number[][], model ?? '', estimatePromptTokens(request.document), isBase64);
}
