import type { ChatRequest } from '../../openai-wire/chat-request.ts';

export interface Thinking {
  thinking: object | undefined;
  effort: string | undefined;
  maxTokens: number;
}

/** Tokens for thinking by effort, of models that take a budget. */
const BUDGETS: Record<string, number> = { low: 2048, medium: 8192, high: 24_576, xhigh: 32_000 };
const LEAST_BUDGET = 1024;

/** Models before those that decide themselves how much to think. */
const TAKES_BUDGET = /claude-(3|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8})?$)/;

/**
 * `reasoning_effort` in Anthropic's words (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking):
 * an effort for models that adapt, a budget for the older ones, within the answer's limit. None when the caller set
 * `thinking` itself, or when an earlier tool call came back without its thinking, which the API would refuse.
 */
export function thinkingFor(chat: ChatRequest, model: string, maxTokens: number): Thinking {
  const none = { thinking: undefined, effort: undefined, maxTokens };
  const { reasoningEffort: effort } = chat;
  if (effort === undefined || effort === 'none' || effort === 'minimal' || 'thinking' in chat.further)
    return none;
  const lastCalls = chat.turns.findLast((turn) => turn.role === 'assistant' && turn.toolCalls.length > 0);
  if (lastCalls?.role === 'assistant' && lastCalls.thinkingBlocks.length === 0) return none;
  // Thinking and a forced tool exclude each other.
  if (chat.tools !== undefined && chat.tools.choice !== 'auto' && chat.tools.choice !== 'none') return none;
  if (!TAKES_BUDGET.test(model)) return { thinking: { type: 'adaptive' }, effort, maxTokens };
  const budget = BUDGETS[effort];
  if (budget === undefined) return none;
  if (chat.maxTokens === undefined) {
    return {
      thinking: { type: 'enabled', budget_tokens: budget },
      effort: undefined,
      maxTokens: maxTokens + budget,
    };
  }
  const fitting = Math.min(budget, Math.floor(maxTokens / 2));
  if (fitting < LEAST_BUDGET) return none;
  return { thinking: { type: 'enabled', budget_tokens: fitting }, effort: undefined, maxTokens };
}
