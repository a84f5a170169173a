/**
 * npm passes on a signal that a terminal's Ctrl-C has already sent to the whole process group: the hub gets it
 * twice, about a millisecond apart. Who asks again takes longer.
 */
const ECHO_MS = 50;

export interface StopSignalOptions {
  /** Whether what started this process may pass on a signal that the process got already. */
  echoed?: boolean;
  /** Where signals come from; the process unless a test says otherwise. */
  source?: { on(signal: NodeJS.Signals, listener: () => void): unknown };
  /** Clock in ms. */
  now?: () => number;
}

/**
 * Calls `onFirst` at the first SIGTERM or SIGINT and `onSecond` at every further one (contract §1), but not at an
 * echo of the first. A SIGHUP, which a closing terminal sends, counts as SIGTERM.
 */
export function onStopSignals(
  onFirst: () => void,
  onSecond: () => void,
  { echoed = false, source = process, now = () => performance.now() }: StopSignalOptions = {},
): void {
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    source.on(signal, () => {
      if (first === undefined) {
        first = { signal, at: now() };
        onFirst();
        return;
      }
      const isEcho = echoed && signal === first.signal && now() - first.at <= ECHO_MS;
      if (!isEcho) onSecond();
    });
  }
}
