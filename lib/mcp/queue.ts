import { cancelledFailure, ToolFailure } from './failure.ts';
import type { StopSignal } from './stop-signal.ts';

/** Places for calls to one server: so many at once, so many waiting, one more is refused. */
export interface CallQueue {
  /**
   * Takes a place. Undefined when it was free, so that the usual call waits for nothing; else a promise that
   * rejects when `signal` aborts or no place was free within `timeoutMs`.
   * @throws ToolFailure `overloaded` at once when the queue is full.
   */
  enter(signal: StopSignal, timeoutMs: number): Promise<void> | undefined;
  /** Gives the place back; once for each entered call. */
  leave(): void;
  inFlight(): number;
  queued(): number;
}

export interface CallQueueOptions {
  maxConcurrency: number;
  maxQueue: number;
}

export function createCallQueue({ maxConcurrency, maxQueue }: CallQueueOptions): CallQueue {
  let inFlight = 0;
  // A Set keeps the order and lets a caller who leaves step out of the middle.
  const waiting = new Set<() => void>();

  function wait(signal: StopSignal, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(giveUp, timeoutMs, 'timeout');
      const leave = () => giveUp('cancelled');
      signal.addEventListener('abort', leave, { once: true });
      waiting.add(go);

      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        waiting.delete(go);
      }
      function go(): void {
        done();
        resolve();
      }
      function giveUp(why: 'timeout' | 'cancelled'): void {
        done();
        reject(
          why === 'cancelled'
            ? cancelledFailure()
            : new ToolFailure(
                'timeout',
                'timeout',
                `No free place at the tool server within ${timeoutMs} ms`,
              ),
        );
      }
    });
  }

  return {
    enter(signal, timeoutMs) {
      if (inFlight < maxConcurrency) {
        inFlight += 1;
        return undefined;
      }
      if (waiting.size >= maxQueue) {
        throw new ToolFailure('transport', 'overloaded', 'Too many calls wait for this tool server');
      }
      return signal.aborted ? Promise.reject(cancelledFailure()) : wait(signal, timeoutMs);
    },
    leave() {
      const [next] = waiting;
      // The place goes from call to call; it is free only when nobody waits.
      if (next === undefined) inFlight -= 1;
      else next();
    },
    inFlight: () => inFlight,
    queued: () => waiting.size,
  };
}
