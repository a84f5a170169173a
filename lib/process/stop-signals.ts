/**
 * Calls `onFirst` at the first SIGTERM or SIGINT and `onSecond` at every further one (contract §1). A SIGHUP,
 * which a closing terminal sends, counts as SIGTERM.
 */
export function onStopSignals(onFirst: () => void, onSecond: () => void): void {
  let seen = false;
  const handle = () => {
    if (seen) {
      onSecond();
      return;
    }
    seen = true;
    onFirst();
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, handle);
}
