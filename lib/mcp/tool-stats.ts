import { bucketOf, createHistogram, type Histogram } from '../usage/histogram.ts';
import type { LatencySummary } from '../usage/usage.ts';
import type { FailureClass } from './failure.ts';
import type { ToolCatalog } from './tool-catalog.ts';
import type { ToolFilter } from './tool-filter.ts';

/** Counters of one tool (contract §6). Errors include timeouts. */
export interface ToolRow {
  name: string;
  invocations: number;
  errors: number;
  timeouts: number;
  avgMs: number | null;
  p95Ms: number | null;
  lastInvokedAt: string | null;
}

/** How an invocation ended. */
export type Outcome = 'success' | FailureClass;

/** Invocation counters of one server; cleared by a reset. */
export interface ToolStats {
  record(tool: string, outcome: Outcome, durationMs: number): void;
  invocations(): number;
  errors(): Record<FailureClass, number>;
  latency(): LatencySummary;
  /** Rows of all tools that were invoked. */
  rows(): ToolRow[];
  reset(): void;
}

interface Counters {
  invocations: number;
  errors: number;
  timeouts: number;
  lastAt: number;
  latency: Histogram;
}

const NO_ERRORS: Record<FailureClass, number> = {
  tool: 0,
  timeout: 0,
  transport: 0,
  protocol: 0,
  cancelled: 0,
};
/** Tools may come and go: at most so many names are counted apart. */
const MAX_TOOLS = 1000;
const OTHER = '(other)';

/** A row for each exposed tool, invoked or not, and for tools that were invoked and are gone. */
export function toolRows(
  catalog: ToolCatalog | undefined,
  exposes: ToolFilter,
  counters: ToolStats,
): ToolRow[] {
  const counted = counters.rows();
  const known = new Set(counted.map(({ name }) => name));
  const idle = [...(catalog?.tools.keys() ?? [])].filter((name) => exposes(name) && !known.has(name));
  const none = { invocations: 0, errors: 0, timeouts: 0, avgMs: null, p95Ms: null, lastInvokedAt: null };
  return [...counted, ...idle.map((name) => ({ name, ...none }))];
}

export function createToolStats(now: () => number = Date.now): ToolStats {
  let invocations = 0;
  let errors = { ...NO_ERRORS };
  let latency = createHistogram();
  const tools = new Map<string, Counters>();

  function countersOf(tool: string): Counters {
    const known = tools.get(tool);
    if (known !== undefined) return known;
    if (tools.size >= MAX_TOOLS && tool !== OTHER) return countersOf(OTHER);
    const fresh = { invocations: 0, errors: 0, timeouts: 0, lastAt: 0, latency: createHistogram() };
    tools.set(tool, fresh);
    return fresh;
  }

  return {
    record(tool, outcome, durationMs) {
      const row = countersOf(tool);
      invocations += 1;
      row.invocations += 1;
      row.lastAt = now();
      const bucket = bucketOf(durationMs);
      latency.record(durationMs, bucket);
      row.latency.record(durationMs, bucket);
      if (outcome === 'success') return;
      errors[outcome] += 1;
      row.errors += 1;
      if (outcome === 'timeout') row.timeouts += 1;
    },
    invocations: () => invocations,
    errors: () => ({ ...errors }),
    latency: () => latency.summary(),
    rows: () =>
      [...tools].map(([name, row]) => {
        const { avg, p95 } = row.latency.summary();
        return {
          name,
          invocations: row.invocations,
          errors: row.errors,
          timeouts: row.timeouts,
          avgMs: avg,
          p95Ms: p95,
          lastInvokedAt: row.lastAt === 0 ? null : new Date(row.lastAt).toISOString(),
        };
      }),
    reset() {
      invocations = 0;
      errors = { ...NO_ERRORS };
      latency = createHistogram();
      tools.clear();
    },
  };
}
