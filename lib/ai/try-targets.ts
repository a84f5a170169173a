import { HubError } from '../errors/hub-error.ts';
import type { AiCall } from './ai-call.ts';
import { type AttemptResult, attemptWhole } from './attempt.ts';
import type { AiRequest } from './body/ai-request.ts';
import { type CallerWatch, sleep } from './caller-watch.ts';
import { type Failure, failureOfClock } from './failure.ts';
import type { Operation } from './operations.ts';
import type { ProviderCall } from './providers/provider.ts';
import { backoffDelay } from './retry.ts';
import { relayStream } from './stream-relay.ts';
import { type Choice, mayAsk } from './target-choice.ts';
import type { Target } from './targets.ts';

/**
 * Tries the chosen target and then its fallbacks, each with its own clock, key and model, until one answers or the
 * caller's request itself was refused (contract §2).
 * @param random in [0, 1), for the jitter of retries
 * @throws HubError `overloaded` or `not_supported` when the chosen target cannot even be tried, or
 *   `invalid_request` when it cannot express the request.
 */
export async function tryTargets(
  call: AiCall,
  choice: Choice,
  request: AiRequest,
  random: () => number,
): Promise<AttemptResult> {
  let result = await tryTarget(call, choice.target, choice.model, request, random);
  for (const target of choice.target.fallback) {
    if (result.kind !== 'failed' || result.failure.kind === 'rejected') return result;
    if (!mayAsk(target, choice.model) || !offers(target, request.operation)) continue;
    const overcome = { target: call.target ?? choice.target, failure: result.failure };
    try {
      result = await tryTarget(call, target, choice.model, request, random);
    } catch (error) {
      // It cannot be tried at all: the failure before it is what the caller hears.
      if (!(error instanceof HubError)) throw error;
      continue;
    }
    call.overcome.push(overcome);
  }
  return result;
}

/** One target with its retries, within its one deadline. */
async function tryTarget(
  call: AiCall,
  target: Target,
  asked: string | undefined,
  request: AiRequest,
  random: () => number,
): Promise<AttemptResult> {
  if (!offers(target, request.operation)) {
    throw new HubError('not_supported', `Target ${target.id} does not support ${request.operation}`);
  }
  const { config } = target;
  const providerCall: ProviderCall = {
    request,
    model: asked ?? config.options.model,
    hidesUsage: config.askUsage && !request.wantsUsage,
  };
  const prepared = withTrace(target.prepare(providerCall), call.trace?.next);
  const deadline = performance.now() + config.requestTimeout;
  if (!(await takePlace(target, config.requestTimeout, call.watch))) return { kind: 'left' };
  try {
    call.target = target;
    for (let retry = 0; ; retry += 1) {
      const startedAt = performance.now();
      call.attempts += 1;
      call.attemptStartedAt = startedAt;
      const attempt = { call, target, providerCall, prepared, timeLeft: deadline - startedAt };
      const result = await (request.stream ? relayStream(attempt) : attemptWhole(attempt));
      const endedAt = performance.now();
      call.waitedMs += endedAt - startedAt;
      if (result.kind !== 'failed') return result;
      const delay = delayBeforeRetry(call, result.failure, retry, target, deadline - endedAt, random());
      if (delay === undefined) return result;
      call.overcome.push({ target, failure: result.failure });
      await sleep(delay, call.watch);
      call.waitedMs += performance.now() - endedAt;
      if (call.watch.hasLeft) return { kind: 'left' };
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
  call: AiCall,
  failure: Failure,
  retry: number,
  { config }: Target,
  timeLeft: number,
  random: number,
): number | undefined {
  const { attempts, maxDelay } = config.retry;
  const delay = failure.retryAfterMs ?? backoffDelay(retry, maxDelay, random);
  const isTooLong = delay > maxDelay || delay >= timeLeft;
  // Said of the last failure too, after which nothing is tried any more: the caller may still come back then.
  call.waitRefused = isTooLong && failure.retryAfterMs !== undefined;
  return failure.mayRetry && retry < attempts && !isTooLong ? delay : undefined;
}

/** False when the caller left while waiting in line. */
async function takePlace({ slots, id }: Target, ms: number, watch: CallerWatch): Promise<boolean> {
  if (watch.hasLeft) return false;
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

function offers(target: Target, operation: Operation): boolean {
  return target.provider.request.operations.includes(operation);
}

function withTrace<T extends { headers: readonly string[] }>(
  prepared: T,
  traceparent: string | undefined,
): T {
  if (traceparent === undefined) return prepared;
  return { ...prepared, headers: [...prepared.headers, 'traceparent', traceparent] };
}
