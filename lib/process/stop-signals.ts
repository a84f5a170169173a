/**
 * npm passes on a signal that a terminal's Ctrl-C had already sent to the whole process group: the hub then gets it
 * twice, about a millisecond apart. A human, and any supervisor, takes longer to ask again.
 */
const SAME_SIGNAL_MS = 50;

/** Where signals come from, and the clock; the process and its own unless a test says otherwise. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  /** In ms. */
  now(): number;
}

/**
 * Calls `onFirst` at the first SIGTERM or SIGINT and `onSecond` at every further one (contract §1), but not at an
 * echo of the first. A SIGHUP, which a closing terminal sends, counts as SIGTERM.
 */
export function onStopSignals(
  onFirst: () => void,
  onSecond: () => void,
  source: SignalSource = {
    on: (signal, listener) => process.on(signal, listener),
    now: () => performance.now(),
  },
): void {
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    source.on(signal, () => {
      if (first === undefined) {
        first = { signal, at: source.now() };
        onFirst();
      } else if (signal !== first.signal || source.now() - first.at > SAME_SIGNAL_MS) {
        onSecond();
      }
    });
  }
}
