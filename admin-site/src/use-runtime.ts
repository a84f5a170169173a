import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type AdminApi, CallFailure, type Runtime } from './admin-api.ts';

/** Seconds between two refreshes (spec §4.5). */
export const REFRESH_SECONDS = 30;
/** A hub in trouble is asked again sooner: does it answer, is AI-Link up again? */
const RETRY_SECONDS = 5;

export interface RuntimeState {
  runtime: Runtime | undefined;
  /** Of the last call; data of before stays on the page. */
  failure: CallFailure | undefined;
  updatedAt: Date | undefined;
  isLoading: boolean;
  /** When the next refresh is due, ms since the epoch; undefined while paused. */
  dueAt: number | undefined;
  /** Counts the refreshes that an operator asked for: other data is then fetched anew too. */
  manualRefreshes: number;
  isPaused: boolean;
  togglePause(): void;
  refresh(): void;
}

/**
 * Keeps `/admin/runtime` fresh. `onRefused` is called when the key is not accepted (any more).
 * @param first what signing in has brought already
 */
export function useRuntime(
  api: AdminApi,
  first: Runtime | undefined,
  onRefused: (failure: CallFailure) => void,
): RuntimeState {
  const [runtime, setRuntime] = useState(first);
  const [failure, setFailure] = useState<CallFailure>();
  const [updatedAt, setUpdatedAt] = useState(() => (first ? new Date() : undefined));
  const [isLoading, setLoading] = useState(false);
  const [isPaused, setPaused] = useState(false);
  const [dueAt, setDueAt] = useState(() => Date.now() + REFRESH_SECONDS * 1000);
  const [manualRefreshes, setManual] = useState(0);
  const running = useRef<AbortController>(undefined);

  const load = useCallback(async () => {
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    setLoading(true);
    let wait = REFRESH_SECONDS;
    try {
      const fresh = await api.runtime(control.signal);
      if (control.signal.aborted) return;
      setRuntime(fresh);
      if (fresh.companion.status !== 'up') wait = RETRY_SECONDS;
      setFailure(undefined);
      setUpdatedAt(new Date());
    } catch (error) {
      if (control.signal.aborted) return;
      const reason = error instanceof CallFailure ? error : new CallFailure(0, String(error));
      if (reason.status === 401 || reason.status === 403) return onRefused(reason);
      wait = RETRY_SECONDS;
      setFailure(reason);
    }
    setLoading(false);
    setDueAt(Date.now() + wait * 1000);
  }, [api, onRefused]);

  useEffect(() => {
    if (first === undefined) void load();
    return () => running.current?.abort();
  }, [first, load]);

  useEffect(() => {
    if (isPaused) return;
    // A page that nobody sees asks for nothing; it does at once when it is seen again.
    const loadIfDue = () => {
      if (Date.now() >= dueAt && !document.hidden) void load();
    };
    const timer = setTimeout(loadIfDue, Math.max(0, dueAt - Date.now()));
    document.addEventListener('visibilitychange', loadIfDue);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', loadIfDue);
    };
  }, [dueAt, isPaused, load]);

  return {
    runtime,
    failure,
    updatedAt,
    isLoading,
    dueAt: isPaused ? undefined : dueAt,
    manualRefreshes,
    isPaused,
    togglePause: () => setPaused((paused) => !paused),
    refresh() {
      setManual((number) => number + 1);
      void load();
    },
  };
}
