import { createBoundedTable, OTHER } from './bounded-table.ts';
import { bucketOf, createHistogram } from './histogram.ts';
import type { ProxyCounts, RuntimeUsage } from './usage.ts';

/** Requests of the gateway's proxies, which hand over what they counted since the last time. */
export interface ProxyCounters {
  add(counts: readonly ProxyCounts[]): void;
  rows(): RuntimeUsage['proxies'];
  clear(): void;
}

export function createProxyCounters(): ProxyCounters {
  const proxies = createBoundedTable(() => ({
    requests: 0,
    errors: 0,
    statuses: new Map<string, number>(),
    latency: createHistogram(),
  }));
  return {
    add(counts) {
      for (const { id, requests, errors, statuses, latenciesMs } of counts) {
        const row = proxies.row(id);
        row.requests += requests;
        row.errors += errors;
        for (const [status, times] of Object.entries(statuses)) {
          const key = /^[1-9]\d\d$/.test(status) ? status : OTHER;
          row.statuses.set(key, (row.statuses.get(key) ?? 0) + times);
        }
        for (const ms of latenciesMs) row.latency.record(ms, bucketOf(ms));
      }
    },
    rows: () =>
      [...proxies.rows()].map(([id, row]) => ({
        id,
        requests: row.requests,
        errors: row.errors,
        statuses: Object.fromEntries(row.statuses),
        latencyMs: row.latency.summary(),
      })),
    clear: proxies.clear,
  };
}
