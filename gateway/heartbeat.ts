export interface HeartbeatOptions {
  /** Pause between two beats, in ms. */
  every: number;
  /** Beats that may go unanswered. */
  missed: number;
  beat(): void;
  /** Called once, at the first beat too many without an answer. */
  onSilence(): void;
}

/**
 * Asks for a sign of life. It counts beats, not time: after a pause of the whole machine one beat is due, not
 * all that were missed, so that a sleep is not taken for a hang.
 */
export function startHeartbeat(options: HeartbeatOptions): { answered(): void; end(): void } {
  let missed = 0;
  const timer = setInterval(() => {
    missed += 1;
    if (missed <= options.missed) {
      options.beat();
      return;
    }
    clearInterval(timer);
    options.onSilence();
  }, options.every).unref();
  return {
    answered() {
      missed = 0;
    },
    end: () => clearInterval(timer),
  };
}
