import { isError } from './describe-error.ts';

/** What happens to an output that cannot be written. */
export interface Trouble {
  /** Whether records are dropped at once, because the next try is not due yet. */
  blocked(): boolean;
  /** The output failed; `records` were lost with it. Warns once. */
  failed(error: unknown, records: number): void;
  /** Counts records that were not even tried. */
  dropped(records: number): void;
  /** The output works (again). Says once how much was lost. */
  worked(): void;
  /** Records lost since the start. */
  readonly lost: number;
}

export interface TroubleDeps {
  /** What the output is called in a warning, e.g. `log file logs/app-access-2026-11-20.log`. */
  name: () => string;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Shows a warning where somebody may still see it. */
  report: (message: string) => void;
  /** Milliseconds between two tries. */
  retryAfterMs: number;
}

/** Keeps account of an output in trouble: one warning, records dropped and counted, tried again later. */
export function createTrouble({ name, now, report, retryAfterMs }: TroubleDeps): Trouble {
  let since: number | undefined;
  let retryAt = 0;
  let lostInARow = 0;
  let lost = 0;
  const count = (records: number): void => {
    lost += records;
    lostInARow += records;
  };
  return {
    blocked: () => since !== undefined && now() < retryAt,
    failed(error, records) {
      count(records);
      retryAt = now() + retryAfterMs;
      if (since !== undefined) return;
      since = now();
      const reason = isError(error) ? error.message : String(error);
      report(`The ${name()} cannot be written, records are dropped until it can: ${reason}`);
    },
    dropped: count,
    worked() {
      if (since === undefined && lostInARow === 0) return;
      report(`The ${name()} is written again; ${lostInARow} records were dropped`);
      since = undefined;
      lostInARow = 0;
    },
    get lost() {
      return lost;
    },
  };
}
