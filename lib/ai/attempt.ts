import type { AiCall } from './ai-call.ts';
import {
  type Failure,
  failureOfBadAnswer,
  failureOfClock,
  failureOfError,
  failureOfStatus,
} from './failure.ts';
import { BadAnswer, type ProviderCall } from './providers/provider.ts';
import type { Target } from './targets.ts';
import type { Exchange, ResponseHeaders, UpstreamCall, UpstreamHandler } from './upstream/upstream.ts';

/** One try at one target. */
export interface Attempt {
  call: AiCall;
  target: Target;
  providerCall: ProviderCall;
  prepared: UpstreamCall;
  /** ms left of the total clock. */
  timeLeft: number;
}

export type AttemptResult =
  /** A whole answer, not yet written. */
  | { kind: 'answer'; body: Buffer; headers: ResponseHeaders }
  /** A stream has gone out, to its end or not. */
  | { kind: 'streamed'; failure?: Failure }
  /** Nothing has gone out. */
  | { kind: 'failed'; failure: Failure }
  /** The caller has left. */
  | { kind: 'left' };

/** Largest answer that is not streamed, in bytes. */
const LARGEST_ANSWER = 64 * 1024 * 1024;
/** Largest error body that is read, in bytes. */
const LARGEST_ERROR = 1024 * 1024;

/** Collects the answer of a call that is not streamed, checks it, and reads its facts. */
export function attemptWhole(attempt: Attempt): Promise<AttemptResult> {
  const { target, providerCall, timeLeft } = attempt;
  const { watch, facts } = attempt.call;
  return new Promise((resolve) => {
    let exchange: Exchange | undefined;
    let isOver = false;
    const leave = () => settle({ kind: 'left' });
    const settle = (result: AttemptResult) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      watch.onLeave = undefined;
      const ended = exchange;
      // What has ended must not hold on to what comes after it: the collector would copy it about (measured).
      exchange = undefined;
      ended?.abort();
      resolve(result);
    };
    const timer = setTimeout(
      () => settle({ kind: 'failed', failure: failureOfClock('total', target.config.requestTimeout) }),
      timeLeft,
    );
    watch.onLeave = leave;
    const sent = target.upstream.send(
      attempt.prepared,
      collectAnswer(
        target,
        (headers, body) => {
          try {
            settle({
              kind: 'answer',
              body: target.provider.response.read(body, facts, providerCall),
              headers,
            });
          } catch (error) {
            if (!(error instanceof BadAnswer)) throw error;
            settle({ kind: 'failed', failure: failureOfBadAnswer(error.message) });
          }
        },
        (failure) => settle({ kind: 'failed', failure }),
      ),
    );
    if (isOver) sent.abort();
    else exchange = sent;
  });
}

/** Collects a body in bounded memory and tells a success from a failure by its status. */
export function collectAnswer(
  target: Target,
  onAnswer: (headers: ResponseHeaders, body: Buffer) => void,
  onFailure: (failure: Failure) => void,
): UpstreamHandler {
  const chunks: Buffer[] = [];
  let size = 0;
  let status = 0;
  let headers: ResponseHeaders = {};
  const isSuccess = () => status >= 200 && status < 300;
  return {
    onHead(answered, received) {
      status = answered;
      headers = received;
    },
    onData(chunk) {
      size += chunk.length;
      if (isSuccess()) {
        if (size > LARGEST_ANSWER)
          onFailure(failureOfBadAnswer(`an answer of more than ${LARGEST_ANSWER} bytes`));
        else chunks.push(chunk);
      } else if (size <= LARGEST_ERROR) chunks.push(chunk);
      else onFailure(failureOfStatus(status, headers, Buffer.alloc(0), target));
    },
    onEnd() {
      const [first] = chunks;
      const body = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      if (isSuccess()) onAnswer(headers, body);
      else onFailure(failureOfStatus(status, headers, body, target));
    },
    onError(error) {
      // The status has been told; only its explanation broke off.
      if (status >= 400) onFailure(failureOfStatus(status, headers, Buffer.alloc(0), target));
      else onFailure(failureOfError(error));
    },
  };
}
