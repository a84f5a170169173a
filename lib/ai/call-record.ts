import type { Logger } from '../logging/logger.ts';
import type { TokenCounts, UsageEnd } from '../usage/usage.ts';
import type { AiCall } from './ai-call.ts';
import { estimatePromptTokens, tokensOfChars } from './body/estimate-tokens.ts';
import { adviceOf } from './failure-response.ts';
import type { Ending } from './write-answer.ts';

/** What usage counts of a call that has ended. */
export function usageOf(call: AiCall, ending: Ending): UsageEnd {
  const { target, facts, firstTokenMs } = call;
  const tokens = ending.spent ? tokensOf(call) : undefined;
  const model = facts.model ?? call.choice?.model ?? target?.config.options.model ?? call.request?.model;
  const price = target?.config.price;
  const end: UsageEnd = { outcome: ending.outcome };
  if (target !== undefined) {
    end.target = target.id;
    end.provider = target.config.provider;
  }
  if (model !== undefined) end.model = model;
  if (tokens !== undefined) end.tokens = tokens;
  if (firstTokenMs !== undefined) end.firstTokenMs = firstTokenMs;
  if (facts.finishReasons.length > 0) end.finishReasons = facts.finishReasons;
  if (tokens !== undefined && price !== undefined) {
    end.cost = (tokens.prompt * price.prompt + tokens.completion * price.completion) / 1_000_000;
  }
  return end;
}

/** Reported tokens as they are, zero too; estimated ones where the provider reported none. */
function tokensOf({ facts, request, operation }: AiCall): TokenCounts {
  if (facts.usage !== undefined) return { ...facts.usage, estimated: false };
  const completion = operation === 'embeddings' ? 0 : tokensOfChars(facts.completionChars);
  const prompt = request === undefined ? 0 : estimatePromptTokens(request.document);
  return { prompt, completion, estimated: true };
}

export interface CallLog {
  /** One record a call, and lines for the operator about what went wrong on its way. */
  write(call: AiCall, ending: Ending, usage: UsageEnd): void;
}

/**
 * @param logger takes the one record a call.
 * @param errorLogger takes what the operator has to know.
 */
export function createCallLog(logger: Logger, errorLogger: Logger): CallLog {
  function writeTroubles(call: AiCall, { failure, error, status }: Ending): void {
    const { requestId, target } = call;
    for (const overcome of call.overcome) {
      errorLogger.warn(adviceOf(overcome.failure, overcome.target), {
        requestId,
        target: overcome.target.id,
      });
    }
    if (failure !== undefined && target !== undefined) {
      // A request that the provider refused is the caller's affair.
      if (failure.kind === 'rejected') return;
      errorLogger.error(adviceOf(failure, target), {
        requestId,
        target: target.id,
        attempts: call.attempts,
        ...(failure.cause !== undefined && { cause: failure.cause }),
      });
    } else if (error !== undefined && status >= 500) {
      errorLogger.error(error.message, { requestId, cause: error.cause });
    }
  }

  return {
    write(call, ending, usage) {
      if (ending.outcome !== 'success' || call.overcome.length > 0) writeTroubles(call, ending);
      if (!logger.enabled('info')) return;
      const { tokens, firstTokenMs } = usage;
      logger.info(`${call.operation} ${ending.outcome}`, {
        requestId: call.requestId,
        target: usage.target,
        provider: usage.provider,
        model: usage.model,
        action: call.operation,
        streaming: call.request?.stream ?? false,
        status: ending.status,
        outcome: ending.outcome,
        code: ending.error?.code,
        durationMs: round(performance.now() - call.startedAt),
        firstTokenMs: firstTokenMs === undefined ? undefined : round(firstTokenMs),
        attempts: call.attempts,
        promptTokens: tokens?.prompt ?? 0,
        completionTokens: tokens?.completion ?? 0,
        totalTokens: tokens === undefined ? 0 : tokens.prompt + tokens.completion,
        estimated: tokens?.estimated ?? false,
        caller: call.caller,
        traceId: call.trace?.traceId,
      });
    },
  };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
