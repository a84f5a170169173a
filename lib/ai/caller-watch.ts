import type { InternalResponse } from '../companion-client/internal-route.ts';

/**
 * Whether the caller of one call is still there. One slot instead of an AbortSignal, because a call does one thing at
 * a time and this runs for every call: whatever waits puts its way out into `onLeave` and takes it back when done.
 */
export interface CallerWatch {
  hasLeft: boolean;
  onLeave: (() => void) | undefined;
}

/** Watches the connection that an answer goes out on. */
export function watchCaller(response: InternalResponse): CallerWatch {
  const watch: CallerWatch = { hasLeft: false, onLeave: undefined };
  response.once('close', () => {
    if (response.writableFinished) return;
    watch.hasLeft = true;
    watch.onLeave?.();
  });
  return watch;
}

/** Waits, and ends early when the caller leaves. */
export function sleep(ms: number, watch: CallerWatch): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      watch.onLeave = undefined;
      resolve();
    };
    const timer = setTimeout(end, ms);
    watch.onLeave = end;
  });
}
