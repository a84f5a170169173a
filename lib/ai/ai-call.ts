import type { InternalContext, InternalResponse } from '../companion-client/internal-route.ts';
import type { AiRequest } from './body/ai-request.ts';
import { type CallFacts, createCallFacts } from './call-facts.ts';
import { type CallerWatch, watchCaller } from './caller-watch.ts';
import type { Failure } from './failure.ts';
import type { Operation } from './operations.ts';
import type { Choice } from './target-choice.ts';
import type { Target } from './targets.ts';
import { continueTrace, type Trace } from './trace.ts';

/** Everything known about one call, filled in as it goes. */
export interface AiCall {
  readonly operation: Operation;
  readonly requestId: string;
  readonly caller: string;
  readonly trace: Trace | undefined;
  readonly response: InternalResponse;
  readonly watch: CallerWatch;
  readonly facts: CallFacts;
  /** `performance.now()` at its arrival. */
  readonly startedAt: number;
  request: AiRequest | undefined;
  choice: Choice | undefined;
  /** The target that answered, or was tried last. */
  target: Target | undefined;
  /** Calls sent to providers. */
  attempts: number;
  /** `performance.now()` when the running attempt began. */
  attemptStartedAt: number;
  /** ms spent waiting for providers, and before retries. */
  waitedMs: number;
  /** The provider asked for a longer wait than the hub makes its caller wait. */
  waitRefused: boolean;
  /** Failures that a retry or a fallback followed. */
  overcome: { target: Target; failure: Failure }[];
  /** ms from arrival to the first event, of streams. */
  firstTokenMs: number | undefined;
}

export function createAiCall(
  operation: Operation,
  response: InternalResponse,
  { requestId, caller, traceparent }: InternalContext,
): AiCall {
  const startedAt = performance.now();
  return {
    operation,
    requestId,
    caller,
    trace: traceparent === undefined ? undefined : continueTrace(traceparent),
    response,
    watch: watchCaller(response),
    facts: createCallFacts(),
    startedAt,
    request: undefined,
    choice: undefined,
    target: undefined,
    attempts: 0,
    attemptStartedAt: startedAt,
    waitedMs: 0,
    waitRefused: false,
    overcome: [],
    firstTokenMs: undefined,
  };
}
