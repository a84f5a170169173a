import { HubError } from '../errors/hub-error.ts';
import { type AttemptContext, type AttemptResult, attemptWhole } from './attempt.ts';
import { type CallerWatch, sleep } from './caller-watch.ts';
import { type Failure, failureOfClock } from './failure.ts';
import type { ProviderCall } from './providers/provider.ts';
import { backoffDelay } from './retry.ts';
import { relayStream } from './stream-relay.ts';
import { type Choice, mayAsk } from './target-choice.ts';
import type { Target } from './targets.ts';

/** How the tries at one or more targets went; filled in as they go. */
export interface Progress {
  /** The target that answered, or was tried last. */
  target: Target;
  /** Calls sent to providers. */
  attempts: number;
  /** ms spent waiting for providers, and before retries. */
  waitedMs: number;
  /** `performance.now()` when the running attempt began. */
  attemptStartedAt: number;
  /** The provider asked for a longer wait than the hub makes its caller wait. */
  waitRefused: boolean;
  /** Failures that a retry or a fallback followed. */
  overcome: { target: Target; failure: Failure }[];
}

export interface TryContext extends Omit<AttemptContext, 'target' | 'call' | 'prepared' | 'timeLeft'> {
  request: ProviderCall['request'];
  /** Added to every upstream call. */
  traceparent: string | undefined;
  random(): number;
}

/**
 * Tries the chosen target and then its fallbacks, each with its own clock, key and model, until one answers or the
 * caller's request itself was refused (contract §2).
 * @throws HubError `overloaded` or `not_supported` when the chosen target cannot even be tried, or
 *   `invalid_request` when it cannot express the request.
 */
export async function tryTargets(
  choice: Choice,
  context: TryContext,
  progress: Progress,
): Promise<AttemptResult> {
  let result = await tryTarget(choice.target, choice.model, context, progress);
  for (const target of choice.target.fallback) {
    if (result.kind !== 'failed' || result.failure.kind === 'rejected') return result;
    if (!mayAsk(target, choice.model) || !offers(target, context)) continue;
    const { failure } = result;
    const previous = progress.target;
    try {
      result = await tryTarget(target, choice.model, context, progress);
    } catch (error) {
      // It cannot be tried at all: the failure before it is what the caller hears.
      if (!(error instanceof HubError)) throw error;
      continue;
    }
    progress.overcome.push({ target: previous, failure });
  }
  return result;
}

/** One target with its retries, within its one deadline. */
async function tryTarget(
  target: Target,
  asked: string | undefined,
  context: TryContext,
  progress: Progress,
): Promise<AttemptResult> {
  if (!offers(target, context)) {
    throw new HubError('not_supported', `Target ${target.id} does not support ${context.request.operation}`);
  }
  const { config } = target;
  const { request } = context;
  const call: ProviderCall = {
    request,
    model: asked ?? config.options.model,
    hidesUsage: config.askUsage && !request.wantsUsage,
  };
  const prepared = withTrace(target.prepare(call), context.traceparent);
  const deadline = performance.now() + config.requestTimeout;
  if (!(await takePlace(target, config.requestTimeout, context.watch))) return { kind: 'left' };
  try {
    progress.target = target;
    for (let retry = 0; ; retry += 1) {
      const startedAt = performance.now();
      progress.attempts += 1;
      progress.attemptStartedAt = startedAt;
      const attempt: AttemptContext = {
        target,
        call,
        prepared,
        timeLeft: deadline - startedAt,
        facts: context.facts,
        watch: context.watch,
        response: context.response,
        mask: context.mask,
        streamHeaders: context.streamHeaders,
      };
      const result = await (context.request.stream ? relayStream(attempt) : attemptWhole(attempt));
      const endedAt = performance.now();
      progress.waitedMs += endedAt - startedAt;
      if (result.kind !== 'failed') return result;
      const delay = delayBeforeRetry(
        result.failure,
        retry,
        target,
        deadline - endedAt,
        context.random(),
        progress,
      );
      if (delay === undefined) return result;
      progress.overcome.push({ target, failure: result.failure });
      await sleep(delay, context.watch);
      progress.waitedMs += performance.now() - endedAt;
      if (context.watch.hasLeft) return { kind: 'left' };
      if (performance.now() >= deadline) {
        return { kind: 'failed', failure: failureOfClock('total', config.requestTimeout) };
      }
    }
  } finally {
    target.slots.release();
  }
}

/** ms to wait, or undefined for no retry. */
function delayBeforeRetry(
  failure: Failure,
  retry: number,
  { config }: Target,
  timeLeft: number,
  random: number,
  progress: Progress,
): number | undefined {
  progress.waitRefused = false;
  if (!failure.mayRetry || retry >= config.retry.attempts) return undefined;
  const { maxDelay } = config.retry;
  const delay = failure.retryAfterMs ?? backoffDelay(retry, maxDelay, random);
  if (delay <= maxDelay && delay < timeLeft) return delay;
  progress.waitRefused = failure.retryAfterMs !== undefined;
  return undefined;
}

/** False when the caller left while waiting in line. */
async function takePlace({ slots, id }: Target, ms: number, watch: CallerWatch): Promise<boolean> {
  if (slots.tryTake()) return true;
  if (slots.mayWait()) {
    const place = await slots.wait(ms, (cancel) => {
      watch.onLeave = cancel;
    });
    watch.onLeave = undefined;
    if (place === 'granted') return true;
    if (place === 'cancelled') return false;
  }
  throw new HubError('overloaded', `Target ${id} has too many calls in flight; try again shortly`, {
    headers: { 'retry-after': '1' },
  });
}

function offers(target: Target, context: TryContext): boolean {
  return target.provider.request.operations.includes(context.request.operation);
}

function withTrace<T extends { headers: readonly string[] }>(
  prepared: T,
  traceparent: string | undefined,
): T {
  if (traceparent === undefined) return prepared;
  return { ...prepared, headers: [...prepared.headers, 'traceparent', traceparent] };
}
