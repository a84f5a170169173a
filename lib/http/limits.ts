import { HubError } from '../errors/hub-error.ts';
import type { RequestContext } from './request-context.ts';

export interface LimitsConfig {
  /** Requests in flight. */
  concurrency: number;
  /** Requests waiting past `concurrency`. */
  queue: number;
  /** Requests in flight or waiting of one caller. */
  perCaller: number;
}

/** The gateway's places (contract §2 `hub.limits`). */
export interface Limits {
  /**
   * Takes a place for a request; a promise only when it has to wait. Each success must be given back by one
   * `leave(label)` of the same label.
   * @throws HubError `rate_limited` (too many of this caller), `overloaded` (queue full), `client_closed_request`
   *   (the caller left while waiting).
   */
  enter(context: RequestContext): Promise<void> | undefined;
  leave(label: string): void;
}

/** Places are first come, first served. While nobody waits, entering costs two additions. */
export function createLimits({ concurrency, queue, perCaller }: LimitsConfig): Limits {
  const callers = new Map<string, number>();
  // A Set keeps the order of arrival and lets whoever gives up leave from the middle.
  const waiting = new Set<() => void>();
  let inFlight = 0;

  function release(label: string): void {
    const count = (callers.get(label) ?? 1) - 1;
    if (count === 0) callers.delete(label);
    else callers.set(label, count);
  }

  function wait({ signal, caller }: RequestContext): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.delete(admit);
        release(caller.label);
        reject(signal.reason);
      };
      const admit = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      if (signal.aborted) {
        giveUp();
        return;
      }
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.add(admit);
    });
  }

  return {
    enter(context) {
      const { label } = context.caller;
      const count = callers.get(label) ?? 0;
      if (count >= perCaller) {
        throw new HubError('rate_limited', 'Too many requests of this caller at once', {
          headers: { 'retry-after': '1' },
        });
      }
      if (inFlight >= concurrency && waiting.size >= queue) {
        throw new HubError('overloaded', 'The hub is busy; try again shortly', {
          headers: { 'retry-after': '1' },
        });
      }
      callers.set(label, count + 1);
      if (inFlight >= concurrency) return wait(context);
      inFlight += 1;
      return undefined;
    },
    leave(label) {
      release(label);
      const [next] = waiting;
      if (next === undefined) {
        inFlight -= 1;
        return;
      }
      // The place passes on, so that inFlight stays.
      waiting.delete(next);
      next();
    },
  };
}
