import { roundMs } from './histogram.ts';
import type { RuntimeUsage } from './usage.ts';

const MINUTE_MS = 60_000;
/** 24 hours. */
const MINUTES = 1440;

/** What one minute counted. */
interface Minute {
  /** Minutes since the epoch; tells a row of today from one of yesterday in the same place. */
  minute: number;
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  latencySum: number;
  latencyCount: number;
}

/** One row a minute for the last 24 hours; minutes without a call are rows of zeros. */
export interface History {
  /** The row of the minute that `time` (ms since the epoch) is in, to be counted in. */
  at(time: number): Minute;
  /** Rows from `since` on, at most 24 h of them; the last is the running minute. */
  rows(since: number, time: number): RuntimeUsage['history'];
  clear(): void;
}

export function createHistory(): History {
  let ring: (Minute | undefined)[] = [];
  return {
    at(time) {
      const minute = Math.floor(time / MINUTE_MS);
      const place = minute % MINUTES;
      const known = ring[place];
      if (known?.minute === minute) return known;
      const fresh: Minute = {
        minute,
        requests: 0,
        errors: 0,
        promptTokens: 0,
        completionTokens: 0,
        latencySum: 0,
        latencyCount: 0,
      };
      ring[place] = fresh;
      return fresh;
    },
    rows(since, time) {
      const last = Math.floor(time / MINUTE_MS);
      const first = Math.min(last, Math.max(Math.floor(since / MINUTE_MS), last - MINUTES + 1));
      return Array.from({ length: last - first + 1 }, (_, offset) => {
        const minute = first + offset;
        const row = ring[minute % MINUTES];
        const counted = row?.minute === minute ? row : undefined;
        return {
          at: new Date(minute * MINUTE_MS).toISOString(),
          requests: counted?.requests ?? 0,
          errors: counted?.errors ?? 0,
          promptTokens: counted?.promptTokens ?? 0,
          completionTokens: counted?.completionTokens ?? 0,
          latencyAvgMs: counted?.latencyCount ? roundMs(counted.latencySum / counted.latencyCount) : null,
        };
      });
    },
    clear() {
      ring = [];
    },
  };
}
