import { randomUUID } from 'node:crypto';
import type { CompanionClient } from '../companion-client/companion-client.ts';
import { INTERNAL_PATHS } from '../companion-client/protocol.ts';
import type { ProxyCounts } from '../usage/usage.ts';

export interface ProxyCountersDeps {
  companion: Pick<CompanionClient, 'call'>;
  /** Pause between a request and the hand-over of its count, in ms; default 1000. */
  afterMs?: number | undefined;
}

/** Requests of the proxies, kept here until the companion has them (contract §9). */
export interface ProxyCounters {
  count(id: string, status: number, latencyMs: number): void;
  /** Hands over what was counted; rejects where the companion did not take it, and keeps it then. */
  handOver(): Promise<void>;
  /** Ends the hand-overs that come by themselves. */
  close(): void;
}

interface Row {
  requests: number;
  errors: number;
  statuses: Record<string, number>;
  latenciesMs: number[];
}

const AFTER_MS = 1000;
/** A companion that is away is tried again after this long, in ms. */
const RETRY_MS = 2000;
const CALL_TIMEOUT_MS = 5000;
/** Of one proxy in one hand-over. Further latencies are left out; requests are counted all the same. */
const MAX_LATENCIES = 1000;

/**
 * Counts in memory that does not grow with requests. What is handed over carries a number, and keeps it until it is
 * acknowledged: a hand-over whose answer was lost is sent again, and the companion counts it once.
 */
export function createProxyCounters({ companion, afterMs = AFTER_MS }: ProxyCountersDeps): ProxyCounters {
  const from = randomUUID();
  let rows = new Map<string, Row>();
  let unacknowledged: { from: string; batch: number; counts: ProxyCounts[] } | undefined;
  let batches = 0;
  let timer: NodeJS.Timeout | undefined;
  let flight: Promise<void> | undefined;
  let isClosed = false;

  function schedule(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      handOver().catch(() => {});
    }, ms).unref();
  }

  function count(id: string, status: number, latencyMs: number): void {
    let row = rows.get(id);
    if (row === undefined) {
      row = { requests: 0, errors: 0, statuses: {}, latenciesMs: [] };
      rows.set(id, row);
    }
    row.requests += 1;
    if (status >= 500) row.errors += 1;
    row.statuses[status] = (row.statuses[status] ?? 0) + 1;
    if (row.latenciesMs.length < MAX_LATENCIES) row.latenciesMs.push(Math.round(latencyMs * 100) / 100);
    if (timer === undefined && !isClosed) schedule(afterMs);
  }

  /** What goes next: first what may have been lost, then what was counted since. */
  function nextBatch() {
    if (unacknowledged === undefined && rows.size > 0) {
      batches += 1;
      const counts = [...rows].map(([id, row]) => ({ id, ...row }));
      unacknowledged = { from, batch: batches, counts };
      rows = new Map();
    }
    return unacknowledged;
  }

  async function sendAll(): Promise<void> {
    for (let body = nextBatch(); body !== undefined; body = nextBatch()) {
      const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
      await companion.call({ method: 'POST', path: INTERNAL_PATHS.proxyCounts, body, signal });
      unacknowledged = undefined;
    }
  }

  async function handOver(): Promise<void> {
    // One at a time; whoever comes meanwhile goes after it, so that what was counted before is handed over.
    while (flight !== undefined) await flight.catch(() => {});
    if (nextBatch() === undefined) return;
    flight = sendAll();
    try {
      await flight;
    } catch (error) {
      if (!isClosed) schedule(RETRY_MS);
      throw error;
    } finally {
      flight = undefined;
    }
  }

  return {
    count,
    handOver,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
