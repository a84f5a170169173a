import { createBoundedTable } from './bounded-table.ts';
import { bucketOf, createHistogram } from './histogram.ts';
import { createHistory } from './history.ts';
import { createProxyCounters } from './proxy-counters.ts';
import { createRow, type Row, showRow } from './rows.ts';
import { createSeriesTable, type Series } from './series.ts';
import type { RuntimeUsage, UsageCounters, UsageEnd, UsageStart } from './usage.ts';

/** Price per million tokens. */
export interface Price {
  prompt: number;
  completion: number;
}

export interface UsageCountersDeps {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of a clock that never goes back, for durations; default `performance.now`. */
  monotonic?: () => number;
  /** Price of a target, for a call that does not bring its own cost. */
  price?: (target: string) => Price | undefined;
}

/** The counters with what only the metrics need. */
export interface CountersWithSeries extends UsageCounters {
  /** Buckets by action, provider and model. */
  series(): readonly Series[];
}

interface ModelRow extends Row {
  provider: string;
  model: string;
  /** Time of its last call, ms since the epoch. */
  lastAt: number;
}

interface CallerRow {
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
}

/** A model counts as active for as long as the history reaches back. */
const ACTIVE_MS = 86_400_000;
/** Between provider and model in a label; in no name of either. */
const BETWEEN = '\n';

const createTotals = () => ({
  success: 0,
  error: 0,
  aborted: 0,
  streaming: 0,
  prompt: 0,
  completion: 0,
  cached: 0,
  reasoning: 0,
  estimated: 0,
  cost: undefined as number | undefined,
  latency: createHistogram(),
  firstToken: createHistogram(),
});

/** What a provider reports is not ours: anything but a positive number counts as none. */
const amount = (value: number | undefined): number =>
  value !== undefined && value > 0 && Number.isFinite(value) ? value : 0;

/**
 * The counters of AI calls and proxies (spec §2.10, contract §8), in memory. A call is counted once, when it
 * ends. Latency is that of calls that were answered, with success or error: when a caller leaves says nothing
 * about speed.
 */
export function createUsageCounters(deps: UsageCountersDeps): CountersWithSeries {
  const { now, price, monotonic = () => performance.now() } = deps;
  let since = now();
  let inFlight = 0;
  let totals = createTotals();
  const models = createBoundedTable<ModelRow>((label) => {
    const at = label.indexOf(BETWEEN);
    const provider = at === -1 ? label : label.slice(0, at);
    return { ...createRow(), provider, model: label.slice(at + 1), lastAt: 0 };
  });
  const providers = createBoundedTable(createRow);
  const targets = createBoundedTable(createRow);
  const actions = createBoundedTable(createRow);
  const finishReasons = createBoundedTable(() => ({ count: 0 }));
  const callers = createBoundedTable<CallerRow>(() => ({
    requests: 0,
    errors: 0,
    promptTokens: 0,
    completionTokens: 0,
  }));
  const history = createHistory();
  const series = createSeriesTable();
  const proxies = createProxyCounters();

  function count(start: UsageStart, end: UsageEnd, ms: number): void {
    const { outcome, tokens, target, provider, model } = end;
    const time = now();
    const errors = outcome === 'error' ? 1 : 0;
    const prompt = amount(tokens?.prompt);
    const completion = amount(tokens?.completion);
    const isAnswered = outcome !== 'aborted';
    const bucket = isAnswered ? bucketOf(ms) : 0;
    const firstTokenMs = end.firstTokenMs;
    const firstTokenBucket = firstTokenMs === undefined ? 0 : bucketOf(firstTokenMs);
    const isReported = tokens !== undefined && !tokens.estimated;

    totals[outcome] += 1;
    if (start.streaming) totals.streaming += 1;
    totals.prompt += prompt;
    totals.completion += completion;
    totals.cached += amount(tokens?.cached);
    totals.reasoning += amount(tokens?.reasoning);
    if (tokens?.estimated === true) totals.estimated += prompt + completion;
    const cost = end.cost ?? costOf(target, prompt, completion);
    if (cost !== undefined) totals.cost = (totals.cost ?? 0) + amount(cost);
    if (isAnswered) totals.latency.record(ms, bucket);
    if (firstTokenMs !== undefined) totals.firstToken.record(firstTokenMs, firstTokenBucket);

    const addTo = (row: Row): void => {
      row.requests += 1;
      row.errors += errors;
      row.promptTokens += prompt;
      row.completionTokens += completion;
      if (isAnswered) row.latency.record(ms, bucket);
      if (firstTokenMs !== undefined) row.firstToken.record(firstTokenMs, firstTokenBucket);
      if (isReported) {
        row.reportedTokens += completion;
        row.reportedMs += ms;
      }
    };
    addTo(actions.row(start.action));
    if (target !== undefined) addTo(targets.row(target));
    if (provider !== undefined) addTo(providers.row(provider));
    // A name asked for where no target was reached is only a word of the caller's.
    if (model !== undefined && provider !== undefined) {
      const row = models.row(`${provider}${BETWEEN}${model}`);
      row.lastAt = time;
      addTo(row);
    }

    const caller = callers.row(start.caller);
    caller.requests += 1;
    caller.errors += errors;
    caller.promptTokens += prompt;
    caller.completionTokens += completion;

    series.count(start.action, end, ms);

    if (end.finishReasons !== undefined) {
      for (const reason of end.finishReasons) finishReasons.row(reason).count += 1;
    }

    const minute = history.at(time);
    minute.requests += 1;
    minute.errors += errors;
    minute.promptTokens += prompt;
    minute.completionTokens += completion;
    if (isAnswered) {
      minute.latencySum += ms;
      minute.latencyCount += 1;
    }
  }

  function costOf(target: string | undefined, prompt: number, completion: number): number | undefined {
    if (target === undefined || price === undefined || prompt + completion === 0) return undefined;
    const perMillion = price(target);
    if (perMillion === undefined) return undefined;
    return (prompt * perMillion.prompt + completion * perMillion.completion) / 1_000_000;
  }

  return {
    begin(start) {
      const startedAt = monotonic();
      let hasEnded = false;
      inFlight += 1;
      return {
        end(end) {
          if (hasEnded) return;
          hasEnded = true;
          inFlight -= 1;
          count(start, end, monotonic() - startedAt);
        },
      };
    },
    addProxyCounts: proxies.add,
    series: series.all,
    snapshot() {
      const time = now();
      const { success, error, aborted, streaming, prompt, completion, cost } = totals;
      const total = success + error + aborted;
      const usage: RuntimeUsage = {
        since: new Date(since).toISOString(),
        uptimeSeconds: Math.max(0, Math.floor((time - since) / 1000)),
        requests: { total, success, error, aborted, inFlight, streaming },
        streamingRatio: total === 0 ? 0 : streaming / total,
        errorRate: total === 0 ? 0 : error / total,
        tokens: {
          prompt,
          completion,
          total: prompt + completion,
          cached: totals.cached,
          reasoning: totals.reasoning,
          estimated: totals.estimated,
        },
        ...(cost !== undefined && { cost: Math.round(cost * 1e9) / 1e9 }),
        activeModels: activeModels(time),
        latencyMs: totals.latency.summary(),
        firstTokenMs: totals.firstToken.summary(),
        models: [...models.rows()].map(([, row]) => ({
          provider: row.provider,
          model: row.model,
          ...showRow(row),
        })),
        providers: [...providers.rows()].map(([provider, row]) => ({ provider, ...showRow(row) })),
        targets: [...targets.rows()].map(([target, row]) => ({ target, ...showRow(row) })),
        actions: [...actions.rows()].map(([action, row]) => ({ action, ...showRow(row) })),
        finishReasons: Object.fromEntries(
          [...finishReasons.rows()].map(([reason, row]) => [reason, row.count]),
        ),
        callers: [...callers.rows()].map(([caller, row]) => ({ caller, ...row })),
        proxies: proxies.rows(),
        history: history.rows(since, time),
      };
      return usage;
    },
    reset() {
      since = now();
      totals = createTotals();
      for (const table of [models, providers, targets, actions, finishReasons, callers]) table.clear();
      history.clear();
      series.clear();
      proxies.clear();
    },
  };

  /** Names of the models called lately, the latest first. */
  function activeModels(time: number): string[] {
    const rows = [...models.rows()].map(([, row]) => row).filter((row) => row.lastAt > time - ACTIVE_MS);
    return [...new Set(rows.sort((a, b) => b.lastAt - a.lastAt).map((row) => row.model))];
  }
}
