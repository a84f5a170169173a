import { EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { onStopSignals } from '../../../lib/process/stop-signals.ts';

/** Sends signals at the given times (ms) and says what was called. */
function calls(echoed: boolean, ...signals: [signal: string, at: number][]): string[] {
  const source = new EventEmitter();
  const seen: string[] = [];
  let time = 0;
  onStopSignals(
    () => seen.push('first'),
    () => seen.push('second'),
    { echoed, source, now: () => time },
  );
  for (const [signal, at] of signals) {
    time = at;
    source.emit(signal);
  }
  return seen;
}

describe('signals that end a process', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'])(
    'a %s is the first, the next one the second, however soon it comes [C1-drain-second-signal]',
    (signal) => {
      expect(calls(false, [signal, 1000])).toEqual(['first']);
      expect(calls(false, [signal, 1000], [signal, 1001])).toEqual(['first', 'second']);
    },
  );

  test('a Ctrl-C that npm passes on once more is one signal, so that requests in flight finish [C1-drain-finish, C1-start-signal]', () => {
    expect(calls(true, ['SIGINT', 1000], ['SIGINT', 1001])).toEqual(['first']);
    expect(calls(true, ['SIGINT', 1000], ['SIGINT', 1001], ['SIGINT', 1200])).toEqual(['first', 'second']);
  });

  test('another signal at once is a second one', () => {
    expect(calls(true, ['SIGINT', 1000], ['SIGTERM', 1000])).toEqual(['first', 'second']);
  });
});
