import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InternalContext } from '../companion-client/internal-route.ts';
import { INTERNAL_HEADERS } from '../companion-client/protocol.ts';
import { type HubError, toHubError } from '../errors/hub-error.ts';
import { readBody } from '../http/body.ts';
import type { Logger } from '../logging/logger.ts';
import type { TokenCounts, UsageCounters, UsageEnd } from '../usage/usage.ts';
import type { AttemptResult } from './attempt.ts';
import { type AiRequest, readAiRequest } from './body/ai-request.ts';
import { tokensOfChars } from './body/estimate-tokens.ts';
import { type CallFacts, createCallFacts } from './call-facts.ts';
import { watchCaller } from './caller-watch.ts';
import { type Failure, rateLimitHeaders } from './failure.ts';
import { adviceOf, forbidsRetry, hubErrorOf } from './failure-response.ts';
import type { Operation } from './operations.ts';
import { type Choice, chooseTarget } from './target-choice.ts';
import type { Target } from './targets.ts';
import { continueTrace, type Trace } from './trace.ts';
import { type Progress, tryTargets } from './try-targets.ts';

export interface AnswerCallDeps {
  targets: ReadonlyMap<string, Target>;
  /** Largest request body, in bytes. */
  bodyLimit: number;
  usage: UsageCounters;
  /** One record a call. */
  logger: Logger;
  /** What the operator has to know. */
  errorLogger: Logger;
  /** Cuts configured secrets out of a text. */
  mask: (text: string) => string;
  random: () => number;
}

export type AnswerCall = (
  operation: Operation,
  request: IncomingMessage,
  response: ServerResponse,
  context: InternalContext,
) => Promise<void>;

/** How a call ended, for usage and the log. */
interface Ending {
  outcome: UsageEnd['outcome'];
  status: number;
  /** Whether tokens were spent: the provider began to answer, or was at work when the caller left. */
  spent: boolean;
  failure?: Failure;
  error?: HubError;
}

/**
 * Creates the one path that every AI call takes: read, choose, try, answer; and whatever happens, count it once and
 * log it once.
 */
export function createAnswerCall(deps: AnswerCallDeps): AnswerCall {
  const { targets, usage, logger, errorLogger, mask } = deps;

  return async function answerCall(operation, incoming, response, context) {
    const startedAt = performance.now();
    const watch = watchCaller(response);
    const facts = createCallFacts();
    const trace = continueTrace(context.traceparent);
    let request: AiRequest | undefined;
    let choice: Choice | undefined;
    let progress: Progress | undefined;
    let firstTokenMs: number | undefined;
    let refusal: unknown;

    try {
      request = readAiRequest(operation, await readBody(incoming, { limit: deps.bodyLimit }));
    } catch (error) {
      refusal = error;
    }
    const counted = usage.begin({
      action: operation,
      caller: context.caller,
      streaming: request?.stream ?? false,
    });

    function answerHeaders(target: Target, upstreamMs: number): string[] {
      const overhead = Math.max(0, performance.now() - startedAt - upstreamMs);
      return ['x-hub-target', target.id, 'x-hub-overhead-ms', overhead.toFixed(2)];
    }

    async function run(): Promise<Ending> {
      if (request === undefined) throw refusal;
      choice = chooseTarget(targets, targetHeader(incoming), request.model);
      const going: Progress = {
        target: choice.target,
        attempts: 0,
        waitedMs: 0,
        attemptStartedAt: startedAt,
        waitRefused: false,
        overcome: [],
      };
      progress = going;
      const result = await tryTargets(
        choice,
        {
          request,
          facts,
          watch,
          response,
          mask,
          random: deps.random,
          traceparent: trace?.next,
          streamHeaders(received) {
            const now = performance.now();
            firstTokenMs = now - startedAt;
            return [
              'content-type',
              'text/event-stream; charset=utf-8',
              'cache-control',
              'no-cache',
              'x-accel-buffering',
              'no',
              ...answerHeaders(going.target, going.waitedMs + now - going.attemptStartedAt),
              ...rateLimitHeaders(received),
            ];
          },
        },
        going,
      );
      return finish(result, going);
    }

    function finish(result: AttemptResult, { target, waitedMs, attempts, waitRefused }: Progress): Ending {
      switch (result.kind) {
        case 'left':
          return { outcome: 'aborted', status: response.headersSent ? 200 : 499, spent: attempts > 0 };
        case 'answer': {
          const headers = answerHeaders(target, waitedMs);
          headers.push('content-type', 'application/json', 'content-length', String(result.body.length));
          headers.push(...rateLimitHeaders(result.headers));
          response.writeHead(200, headers);
          response.end(result.body);
          return { outcome: facts.hasFailed ? 'error' : 'success', status: 200, spent: true };
        }
        case 'streamed':
          return {
            ...streamEnding(facts),
            ...(result.failure && { outcome: 'error', failure: result.failure }),
          };
        case 'failed': {
          const { failure } = result;
          const headers = answerHeaders(target, waitedMs);
          if (forbidsRetry(failure, attempts, waitRefused)) headers.push('x-should-retry', 'false');
          const { answer, status } = failure;
          if (answer !== undefined && status !== undefined) headers.push(...answer.headers);
          if (answer !== undefined && status !== undefined && answer.body.length > 0) {
            headers.push('content-type', answer.contentType, 'content-length', String(answer.body.length));
            response.writeHead(status, headers);
            response.end(answer.body);
            return { outcome: 'error', status, spent: false, failure };
          }
          const error = hubErrorOf(failure, target, recordOf(headers));
          return { outcome: 'error', status: error.status, spent: false, failure, error };
        }
      }
    }

    let ending: Ending;
    try {
      ending = await run();
    } catch (error) {
      const known = toHubError(error);
      ending = {
        outcome: watch.hasLeft ? 'aborted' : 'error',
        status: known.status,
        spent: false,
        error: known,
      };
    }

    const tokens = ending.spent ? tokensOf(facts, request, operation) : undefined;
    const model = facts.model ?? choice?.model ?? progress?.target.config.options.model ?? request?.model;
    const target = progress?.target;
    const cost = costOf(tokens, target);
    counted.end({
      outcome: ending.outcome,
      ...(target !== undefined && { target: target.id, provider: target.config.provider }),
      ...(model !== undefined && { model }),
      ...(tokens !== undefined && { tokens }),
      ...(firstTokenMs !== undefined && { firstTokenMs }),
      ...(facts.finishReasons.length > 0 && { finishReasons: facts.finishReasons }),
      ...(cost !== undefined && { cost }),
    });
    logCall();
    if (ending.error !== undefined) throw ending.error;

    function logCall(): void {
      for (const { target, failure } of progress?.overcome ?? []) {
        errorLogger.warn(mask(adviceOf(failure, target)), {
          requestId: context.requestId,
          target: target.id,
        });
      }
      if (ending.failure !== undefined && target !== undefined && ending.failure.kind !== 'rejected') {
        errorLogger.error(mask(adviceOf(ending.failure, target)), {
          requestId: context.requestId,
          target: target.id,
          attempts: progress?.attempts,
          ...(ending.failure.cause !== undefined && { cause: ending.failure.cause }),
        });
      } else if (ending.status >= 500 && ending.error !== undefined) {
        errorLogger.error(ending.error.message, { requestId: context.requestId, cause: ending.error.cause });
      }
      if (!logger.enabled('info')) return;
      logger.info(`${operation} ${ending.outcome}`, {
        requestId: context.requestId,
        target: target?.id,
        provider: target?.config.provider,
        model,
        action: operation,
        streaming: request?.stream ?? false,
        status: ending.status,
        outcome: ending.outcome,
        ...(ending.error !== undefined && { code: ending.error.code }),
        durationMs: round(performance.now() - startedAt),
        ...(firstTokenMs !== undefined && { firstTokenMs: round(firstTokenMs) }),
        attempts: progress?.attempts ?? 0,
        promptTokens: tokens?.prompt ?? 0,
        completionTokens: tokens?.completion ?? 0,
        totalTokens: tokens === undefined ? 0 : tokens.prompt + tokens.completion,
        estimated: tokens?.estimated ?? false,
        caller: context.caller,
        ...traceField(trace),
      });
    }
  };
}

/** A stream that just stops was cut, whatever its connection says: nothing told that the answer is complete. */
function streamEnding(facts: CallFacts): Ending {
  const isComplete = (facts.isComplete || facts.finishReasons.length > 0) && !facts.hasFailed;
  return { outcome: isComplete ? 'success' : 'error', status: 200, spent: true };
}

function tokensOf(facts: CallFacts, request: AiRequest | undefined, operation: Operation): TokenCounts {
  if (facts.usage !== undefined) return { ...facts.usage, estimated: false };
  const completion = operation === 'embeddings' ? 0 : tokensOfChars(facts.completionChars);
  return { prompt: request?.promptEstimate ?? 0, completion, estimated: true };
}

function costOf(tokens: TokenCounts | undefined, target: Target | undefined): number | undefined {
  const price = target?.config.price;
  if (tokens === undefined || price === undefined) return undefined;
  return (tokens.prompt * price.prompt + tokens.completion * price.completion) / 1_000_000;
}

function targetHeader(request: IncomingMessage): string | undefined {
  const value = request.headers[INTERNAL_HEADERS.target];
  return typeof value === 'string' ? value.trim() : undefined;
}

function recordOf(headers: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    record[headers[index] ?? ''] = headers[index + 1] ?? '';
  }
  return record;
}

function traceField(trace: Trace | undefined): { traceId?: string } {
  return trace === undefined ? {} : { traceId: trace.traceId };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
