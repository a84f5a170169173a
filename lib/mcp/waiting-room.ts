import { cancelledFailure } from './failure.ts';
import type { StopSignal } from './stop-signal.ts';

/** Callers who wait for the same thing. */
export interface WaitingRoom {
  /** Resolves at the next `wakeAll`. @throws ToolFailure `cancelled` when the signal aborts before. */
  wait(signal?: StopSignal): Promise<void>;
  wakeAll(): void;
}

export function createWaitingRoom(): WaitingRoom {
  const waiting = new Set<() => void>();
  return {
    wait: (signal) =>
      new Promise((resolve, reject) => {
        const wake = () => {
          waiting.delete(wake);
          signal?.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          waiting.delete(wake);
          reject(cancelledFailure());
        };
        waiting.add(wake);
        signal?.addEventListener('abort', leave, { once: true });
      }),
    wakeAll() {
      for (const wake of [...waiting]) wake();
    },
  };
}
