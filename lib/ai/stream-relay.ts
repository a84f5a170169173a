import { errorBody } from '../errors/hub-error.ts';
import { streamHeaders } from './answer-headers.ts';
import { type Attempt, type AttemptResult, collectAnswer } from './attempt.ts';
import { type Failure, failureOfBadAnswer, failureOfClock, failureOfError } from './failure.ts';
import { hubErrorOf } from './failure-response.ts';
import type { StreamReader, StreamSink } from './providers/provider.ts';
import type { Exchange, ResponseHeaders, UpstreamHandler } from './upstream/upstream.ts';

/** Comments that a provider may send before its first event, in bytes. */
const LARGEST_PREAMBLE = 1024 * 1024;
/** A caller that has taken nothing for so long (ms) is taken for gone. */
const LONGEST_STALL_MS = 300_000;

/**
 * Relays a streamed answer (contract §5). Nothing goes out before the provider's first real event, so that a failure
 * until then keeps its status, and retries and fallbacks stay possible. From then on bytes go out as they come, with
 * backpressure, and a failure ends the stream with one error event.
 *
 * Clocks: `firstTokenTimeout` (within what is left of the total) until the first event, which comments do not stop;
 * `idleTimeout` afterwards, reset by any byte, standing still while the caller does not read.
 */
export function relayStream(attempt: Attempt): Promise<AttemptResult> {
  const { call, target, timeLeft } = attempt;
  const { facts, watch, response } = call;
  const { firstTokenTimeout, idleTimeout, requestTimeout } = target.config;

  return new Promise((resolve) => {
    let exchange: Exchange | undefined;
    let phase: 'waiting' | 'open' | 'over' = 'waiting';
    let held: Buffer[] = [];
    let heldLength = 0;
    let isPaused = false;
    /** Takes the answer once its status is known: the stream, or the body of an error. */
    let receiver: UpstreamHandler | undefined;
    let received: ResponseHeaders = {};
    /** The clock that runs now: first token, idle, or the caller's stall. */
    let timer: NodeJS.Timeout;

    function settle(result: AttemptResult): void {
      phase = 'over';
      clearTimeout(timer);
      watch.onLeave = undefined;
      response.removeListener('drain', onDrain);
      const ended = exchange;
      exchange = undefined;
      ended?.abort();
      resolve(result);
    }

    function leave(): void {
      settle({ kind: 'left' });
    }

    function fail(failure: Failure): void {
      if (phase === 'over') return;
      if (phase === 'open') {
        response.end(`data: ${JSON.stringify(errorBody(hubErrorOf(failure, target)))}\n\n`);
        settle({ kind: 'streamed', failure });
      } else settle({ kind: 'failed', failure });
    }

    function send(bytes: Buffer): void {
      if (response.write(bytes) || isPaused) return;
      isPaused = true;
      exchange?.pause();
      clearTimeout(timer);
      timer = setTimeout(onStall, Math.max(LONGEST_STALL_MS, idleTimeout));
    }

    function onDrain(): void {
      isPaused = false;
      clearTimeout(timer);
      timer = setTimeout(onIdle, idleTimeout);
      exchange?.resume();
    }

    function onIdle(): void {
      fail(failureOfClock('idle', idleTimeout));
    }

    function onStall(): void {
      settle({ kind: 'left' });
      response.destroy();
    }

    const sink: StreamSink = {
      write(bytes) {
        if (phase === 'open') send(bytes);
        else if (phase === 'waiting') {
          held.push(bytes);
          heldLength += bytes.length;
          if (heldLength > LARGEST_PREAMBLE) fail(failureOfBadAnswer('only comments instead of a stream'));
        }
      },
      open() {
        if (phase !== 'waiting') return;
        phase = 'open';
        clearTimeout(timer);
        timer = setTimeout(onIdle, idleTimeout);
        response.on('drain', onDrain);
        call.firstTokenMs = performance.now() - call.startedAt;
        response.writeHead(200, streamHeaders(call, target, received));
        for (const bytes of held) send(bytes);
        held = [];
      },
      fail: (reason) => fail(failureOfBadAnswer(reason)),
      mask: target.mask,
      end() {
        if (phase !== 'open') return;
        response.end();
        settle({ kind: 'streamed' });
      },
    };

    function streamReceiver(reader: StreamReader): UpstreamHandler {
      return {
        onHead() {},
        onData(chunk) {
          if (phase === 'open' && !isPaused) timer.refresh();
          reader.push(chunk);
        },
        onEnd() {
          reader.end();
          if (phase === 'over') return;
          if (phase === 'waiting') fail(failureOfBadAnswer('the stream is empty'));
          else {
            response.end();
            settle({ kind: 'streamed' });
          }
        },
        onError: (error) => fail(failureOfError(error)),
      };
    }

    const handler: UpstreamHandler = {
      onHead(status, headers) {
        if (status >= 200 && status < 300) {
          received = headers;
          receiver = streamReceiver(target.provider.stream.createReader(sink, facts, attempt.providerCall));
        } else {
          receiver = collectAnswer(target, () => {}, fail);
          receiver.onHead(status, headers);
        }
      },
      onData(chunk) {
        if (phase !== 'over') receiver?.onData(chunk);
      },
      onEnd() {
        if (phase !== 'over') receiver?.onEnd();
      },
      onError(error) {
        if (receiver === undefined) fail(failureOfError(error));
        else receiver.onError(error);
      },
    };

    const clock = firstTokenTimeout < timeLeft ? 'first token' : 'total';
    timer = setTimeout(
      () => fail(failureOfClock(clock, clock === 'total' ? requestTimeout : firstTokenTimeout)),
      Math.min(firstTokenTimeout, timeLeft),
    );
    watch.onLeave = leave;
    const sent = target.upstream.send(attempt.prepared, handler);
    if ((phase as string) === 'over') sent.abort();
    else exchange = sent;
  });
}
