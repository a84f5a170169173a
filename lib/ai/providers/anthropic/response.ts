import type { ReportedUsage } from '../../call-facts.ts';
import { isObject, parsedObject } from '../../json.ts';
import { type AnsweredToolCall, chatCompletion } from '../../openai-wire/chat-answer.ts';
import { BadAnswer, type ProviderResponse } from '../provider.ts';

/** A message of the Messages API as a chat completion. */
export const response: ProviderResponse = {
  read(body, facts) {
    const message = parsedObject(body);
    if (message?.type !== 'message' || !Array.isArray(message.content)) throw new BadAnswer('not a message');
    let text = '';
    let reasoning = '';
    const thinkingBlocks: unknown[] = [];
    const toolCalls: AnsweredToolCall[] = [];
    for (const block of message.content) {
      if (!isObject(block)) continue;
      if (block.type === 'text') text += String(block.text ?? '');
      else if (block.type === 'tool_use') {
        toolCalls.push({
          id: String(block.id),
          name: String(block.name),
          arguments: JSON.stringify(block.input ?? {}),
        });
      } else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
        thinkingBlocks.push(block);
        reasoning += String(block.thinking ?? '');
      }
    }
    const answer = {
      id: String(message.id),
      model: String(message.model),
      text,
      reasoning,
      thinkingBlocks,
      toolCalls,
      finishReason: finishReasonOf(message.stop_reason),
    };
    return chatCompletion(answer, usageOf(message.usage), facts);
  },
};

const FINISH_REASONS: Record<string, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

export function finishReasonOf(stopReason: unknown): string {
  return FINISH_REASONS[String(stopReason)] ?? 'stop';
}

/** Anthropic counts what came from and went into the cache beside `input_tokens`; OpenAI's prompt holds all of it. */
export function usageOf(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens: input, output_tokens: output } = usage;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  const cached = numberOr0(usage.cache_read_input_tokens);
  return {
    prompt: input + cached + numberOr0(usage.cache_creation_input_tokens),
    completion: output,
    ...(usage.cache_read_input_tokens !== undefined && { cached }),
  };
}

function numberOr0(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
