import { createHistogram, type Histogram } from './histogram.ts';
import type { UsageRow } from './usage.ts';

/** The counters of one model, provider, target or action. */
export interface Row {
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  latency: Histogram;
  firstToken: Histogram;
  /** Completion tokens and milliseconds of the calls whose provider reported tokens. */
  reportedTokens: number;
  reportedMs: number;
}

export const createRow = (): Row => ({
  requests: 0,
  errors: 0,
  promptTokens: 0,
  completionTokens: 0,
  latency: createHistogram(),
  firstToken: createHistogram(),
  reportedTokens: 0,
  reportedMs: 0,
});

/** A row as the admin API shows it. */
export function showRow(row: Row): UsageRow {
  const { requests, errors, promptTokens, completionTokens, reportedMs } = row;
  return {
    requests,
    errors,
    promptTokens,
    completionTokens,
    latencyMs: row.latency.summary(),
    firstTokenMs: row.firstToken.summary(),
    tokensPerSecond: reportedMs > 0 ? Math.round((row.reportedTokens / reportedMs) * 1000 * 100) / 100 : null,
  };
}
