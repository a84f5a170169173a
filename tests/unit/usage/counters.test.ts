import { beforeEach, describe, expect, test } from '@jest/globals';
import { MOST_LABELS } from '../../../lib/usage/bounded-table.ts';
import { type CountersWithSeries, createUsageCounters } from '../../../lib/usage/counters.ts';
import type { UsageEnd, UsageStart } from '../../../lib/usage/usage.ts';
import { createRandom } from './random.ts';

const MINUTE = 60_000;
const START: UsageStart = { action: 'chat.completions', caller: 'ip:127.0.0.1', streaming: false };
const END: UsageEnd = {
  outcome: 'success',
  target: 'main',
  provider: 'openai',
  model: 'gpt-x',
  tokens: { prompt: 10, completion: 20, cached: 4, reasoning: 5, estimated: false },
  finishReasons: ['stop'],
};

let time: number;
let counters: CountersWithSeries;

beforeEach(() => {
  time = Date.parse('2026-03-04T12:00:30.000Z');
  counters = createUsageCounters({ now: () => time, monotonic: () => time });
});

/** One call that takes `ms`. */
function call(start: Partial<UsageStart> = {}, end: Partial<UsageEnd> = {}, ms = 100): void {
  const begun = counters.begin({ ...START, ...start });
  time += ms;
  begun.end({ ...END, ...end });
}

describe('runtimeUsage', () => {
  test('has every field while nothing was counted [C8-usage-shape, S2.10-usage]', () => {
    const none = { avg: null, min: null, max: null, p50: null, p95: null, p99: null };
    expect(counters.snapshot()).toEqual({
      since: '2026-03-04T12:00:30.000Z',
      uptimeSeconds: 0,
      requests: { total: 0, success: 0, error: 0, aborted: 0, inFlight: 0, streaming: 0 },
      streamingRatio: 0,
      errorRate: 0,
      tokens: { prompt: 0, completion: 0, total: 0, cached: 0, reasoning: 0, estimated: 0 },
      activeModels: [],
      latencyMs: none,
      firstTokenMs: none,
      models: [],
      providers: [],
      targets: [],
      actions: [],
      finishReasons: {},
      callers: [],
      proxies: [],
      history: [
        {
          at: '2026-03-04T12:00:00.000Z',
          requests: 0,
          errors: 0,
          promptTokens: 0,
          completionTokens: 0,
          latencyAvgMs: null,
        },
      ],
    });
  });

  test('a model that no provider was asked for makes no row and is not active [C8-usage-model]', () => {
    counters.begin(START).end({ outcome: 'error', model: 'made-up' });
    const { requests, models, activeModels } = counters.snapshot();
    expect([requests.error, models, activeModels]).toEqual([1, [], []]);
  });

  test('counts a call under its model, provider, target, action and caller [C8-usage-shape]', () => {
    call({ streaming: true }, { firstTokenMs: 40 }, 200);
    const latencyMs = { avg: 200, min: 200, max: 200, p50: 200, p95: 200, p99: 200 };
    const firstTokenMs = { avg: 40, min: 40, max: 40, p50: 40, p95: 40, p99: 40 };
    const row = {
      requests: 1,
      errors: 0,
      promptTokens: 10,
      completionTokens: 20,
      latencyMs,
      firstTokenMs,
      tokensPerSecond: 100,
    };
    expect(counters.snapshot()).toMatchObject({
      requests: { total: 1, success: 1, error: 0, aborted: 0, inFlight: 0, streaming: 1 },
      tokens: { prompt: 10, completion: 20, total: 30, cached: 4, reasoning: 5, estimated: 0 },
      activeModels: ['gpt-x'],
      latencyMs,
      firstTokenMs,
      models: [{ provider: 'openai', model: 'gpt-x', ...row }],
      providers: [{ provider: 'openai', ...row }],
      targets: [{ target: 'main', ...row }],
      actions: [{ action: 'chat.completions', ...row }],
      finishReasons: { stop: 1 },
      callers: [{ caller: 'ip:127.0.0.1', requests: 1, errors: 0, promptTokens: 10, completionTokens: 20 }],
    });
  });

  test('an aborted call is no error, and its duration no latency [C8-usage-ratios]', () => {
    call({ streaming: true });
    call({}, { outcome: 'aborted' }, 60_000);
    call({}, { outcome: 'error' });
    call({}, { outcome: 'success' });
    const { requests, errorRate, streamingRatio, latencyMs, models } = counters.snapshot();
    expect(requests).toEqual({ total: 4, success: 2, error: 1, aborted: 1, inFlight: 0, streaming: 1 });
    expect(errorRate).toBe(0.25);
    expect(streamingRatio).toBe(0.25);
    expect(latencyMs.max).toBe(100);
    expect(models[0]).toMatchObject({ requests: 4, errors: 1 });
  });

  test('zero tokens are a report, and none is none', () => {
    call({}, { tokens: { prompt: 0, completion: 0, estimated: false } });
    expect(counters.snapshot().models[0]?.tokensPerSecond).toBe(0);
    counters.reset();
    call({}, { tokens: undefined as never });
    expect(counters.snapshot().models[0]?.tokensPerSecond).toBeNull();
  });

  test('estimated tokens are included, counted apart, and make no speed [C8-usage-estimated]', () => {
    call();
    call({}, { tokens: { prompt: 1, completion: 2, estimated: true } });
    const { tokens, models } = counters.snapshot();
    expect(tokens).toMatchObject({ prompt: 11, completion: 22, total: 33, estimated: 3 });
    expect(models[0]?.tokensPerSecond).toBe(200);
  });

  test('a refused request counts no tokens and stands under no model [C8-usage-refused]', () => {
    counters.begin(START).end({ outcome: 'error' });
    const { requests, tokens, models, providers, targets, actions } = counters.snapshot();
    expect(requests).toMatchObject({ total: 1, error: 1 });
    expect(tokens.total).toBe(0);
    expect([models, providers, targets]).toEqual([[], [], []]);
    expect(actions).toMatchObject([{ action: 'chat.completions', requests: 1, errors: 1 }]);
  });

  test('what a provider reports wrongly does no harm', () => {
    call(
      {},
      { tokens: { prompt: Number.NaN, completion: -5, cached: Number.POSITIVE_INFINITY, estimated: false } },
    );
    call({}, { finishReasons: ['__proto__', 'constructor'], model: '__proto__' });
    const usage = counters.snapshot();
    expect(usage.tokens).toMatchObject({ prompt: 10, completion: 20, cached: 4 });
    expect(JSON.parse(JSON.stringify(usage)).finishReasons).toMatchObject({ constructor: 1, stop: 1 });
  });

  test('the same model of two providers makes two rows and one active model', () => {
    call({}, { provider: 'openai', model: 'a\nb' });
    call({}, { provider: 'azure', model: 'a\nb' });
    const { models, activeModels } = counters.snapshot();
    expect(models.map(({ provider, model }) => [provider, model])).toEqual([
      ['openai', 'a\nb'],
      ['azure', 'a\nb'],
    ]);
    expect(activeModels).toEqual(['a\nb']);
  });

  test('a model that was not called for a day is not active', () => {
    call({}, { model: 'old' });
    time += 25 * 60 * MINUTE;
    call({}, { model: 'new' });
    call({}, { model: 'newer' });
    expect(counters.snapshot().activeModels).toEqual(['newer', 'new']);
  });

  test('cost is the one given, else by the price of the target, else left out', () => {
    call();
    expect(counters.snapshot()).not.toHaveProperty('cost');
    counters = createUsageCounters({
      now: () => time,
      price: (target) => (target === 'main' ? { prompt: 1, completion: 2 } : undefined),
    });
    call({}, { tokens: { prompt: 1_000_000, completion: 500_000, estimated: false } });
    call({}, { target: 'free' });
    call({}, { cost: 0.5 });
    expect(counters.snapshot().cost).toBe(2.5);
  });
});

describe('a call', () => {
  test('counts once, however often it ends', () => {
    const begun = counters.begin(START);
    expect(counters.snapshot().requests).toMatchObject({ total: 0, inFlight: 1 });
    begun.end(END);
    begun.end({ ...END, outcome: 'error' });
    expect(counters.snapshot().requests).toMatchObject({ total: 1, success: 1, error: 0, inFlight: 0 });
  });

  test('in flight outlives a reset and counts afterwards [C8-reset-keeps, C8-reset-clears]', () => {
    call();
    const begun = counters.begin(START);
    counters.addProxyCounts([{ id: 'p', requests: 1, errors: 0, statuses: { 200: 1 }, latenciesMs: [1] }]);
    time += 5000;
    counters.reset();
    const cleared = counters.snapshot();
    expect(cleared).toMatchObject({
      since: new Date(time).toISOString(),
      uptimeSeconds: 0,
      requests: { total: 0, inFlight: 1 },
      tokens: { total: 0 },
      models: [],
      callers: [],
      finishReasons: {},
      proxies: [],
      activeModels: [],
    });
    expect(cleared.history).toHaveLength(1);
    expect(cleared.history[0]?.requests).toBe(0);
    expect(counters.series()).toEqual([]);
    time += 3000;
    begun.end(END);
    expect(counters.snapshot()).toMatchObject({ uptimeSeconds: 3, requests: { total: 1, inFlight: 0 } });
  });
});

describe('bounds', () => {
  test('every label set has 200 of its own and the rest under other [C8-usage-bounds]', () => {
    for (let at = 0; at < 1000; at += 1) {
      call(
        { action: `a${at}`, caller: `c${at}` },
        { model: `m${at}`, provider: `p${at}`, target: `t${at}`, finishReasons: [`f${at}`] },
      );
    }
    const usage = counters.snapshot();
    const sets = [
      usage.models.map((row) => row.model),
      usage.providers.map((row) => row.provider),
      usage.targets.map((row) => row.target),
      usage.actions.map((row) => row.action),
      usage.callers.map((row) => row.caller),
      Object.keys(usage.finishReasons),
    ];
    for (const labels of sets) {
      expect(labels).toHaveLength(MOST_LABELS + 1);
      expect(labels.at(-1)).toBe('other');
    }
    for (const rows of [usage.models, usage.providers, usage.targets, usage.actions, usage.callers]) {
      expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(1000);
    }
    expect(counters.series().length).toBeLessThanOrEqual(MOST_LABELS + 1);
    expect(usage.finishReasons.other).toBe(800);
  });

  test('a label is cut, so that a caller cannot fill the memory with one', () => {
    call({}, { model: 'x'.repeat(1_000_000) });
    call({}, { model: 'x'.repeat(2_000_000) });
    expect(JSON.stringify(counters.snapshot()).length).toBeLessThan(5000);
    expect(counters.snapshot().models).toHaveLength(1);
  });

  test('a label named other is counted with the rest', () => {
    call({}, { provider: 'other', model: 'x' });
    for (let at = 0; at < 300; at += 1) call({}, { provider: `p${at}` });
    const { providers } = counters.snapshot();
    expect(providers).toHaveLength(MOST_LABELS + 1);
    expect(providers.find((row) => row.provider === 'other')?.requests).toBe(101);
  });
});

describe('history', () => {
  test('has a row a minute, idle ones too, and the last is the running one [C8-usage-history]', () => {
    call();
    time += 3 * MINUTE;
    call({}, { outcome: 'error' }, 300);
    expect(counters.snapshot().history).toEqual([
      {
        at: '2026-03-04T12:00:00.000Z',
        requests: 1,
        errors: 0,
        promptTokens: 10,
        completionTokens: 20,
        latencyAvgMs: 100,
      },
      {
        at: '2026-03-04T12:01:00.000Z',
        requests: 0,
        errors: 0,
        promptTokens: 0,
        completionTokens: 0,
        latencyAvgMs: null,
      },
      {
        at: '2026-03-04T12:02:00.000Z',
        requests: 0,
        errors: 0,
        promptTokens: 0,
        completionTokens: 0,
        latencyAvgMs: null,
      },
      {
        at: '2026-03-04T12:03:00.000Z',
        requests: 1,
        errors: 1,
        promptTokens: 10,
        completionTokens: 20,
        latencyAvgMs: 300,
      },
    ]);
  });

  test('reaches back 24 hours and forgets what is older [C8-usage-history]', () => {
    call();
    time += 24 * 60 * MINUTE;
    const { history, requests } = counters.snapshot();
    expect(history).toHaveLength(1440);
    expect(history.reduce((sum, row) => sum + row.requests, 0)).toBe(0);
    expect(requests.total).toBe(1);
    expect(history.at(-1)?.at).toBe('2026-03-05T12:00:00.000Z');
  });

  test('survives a clock that is set back', () => {
    call();
    time -= 10 * MINUTE;
    call();
    const { history, uptimeSeconds } = counters.snapshot();
    expect(uptimeSeconds).toBe(0);
    expect(history).toMatchObject([{ requests: 1 }]);
  });
});

describe('proxies', () => {
  test('add up what the gateway hands over', () => {
    counters.addProxyCounts([
      { id: 'a', requests: 3, errors: 1, statuses: { 200: 2, 502: 1 }, latenciesMs: [10, 20, 30] },
      { id: 'b', requests: 1, errors: 0, statuses: { 204: 1 }, latenciesMs: [] },
    ]);
    counters.addProxyCounts([
      { id: 'a', requests: 1, errors: 0, statuses: { 200: 1, x: 7 }, latenciesMs: [40] },
    ]);
    expect(counters.snapshot().proxies).toMatchObject([
      {
        id: 'a',
        requests: 4,
        errors: 1,
        statuses: { 200: 3, 502: 1, other: 7 },
        latencyMs: { avg: 25, min: 10, max: 40 },
      },
      { id: 'b', requests: 1, errors: 0, statuses: { 204: 1 }, latencyMs: { avg: null } },
    ]);
  });

  test('are bounded [C8-usage-bounds]', () => {
    for (let at = 0; at < 500; at += 1) {
      counters.addProxyCounts([{ id: `p${at}`, requests: 1, errors: 0, statuses: {}, latenciesMs: [] }]);
    }
    expect(counters.snapshot().proxies).toHaveLength(MOST_LABELS + 1);
  });
});

describe('whatever happens, in any order', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('all sums agree (sequence %d)', (seed) => {
    const random = createRandom(seed);
    const inFlight: { end: (end: UsageEnd) => void }[] = [];
    let begun = 0;
    const expected = { total: 0, error: 0, aborted: 0, success: 0, streaming: 0, prompt: 0, completion: 0 };
    const streams = new Map<object, boolean>();

    for (let step = 0; step < 3000; step += 1) {
      time += random.below(5000);
      const dice = random.below(100);
      if (dice < 50) {
        const streaming = random.below(2) === 0;
        const started = counters.begin({
          action: random.pick(['chat.completions', 'embeddings']),
          caller: `caller ${random.below(300)}`,
          streaming,
        });
        streams.set(started, streaming);
        inFlight.push(started);
        begun += 1;
      } else if (dice < 98 && inFlight.length > 0) {
        const [ended] = inFlight.splice(random.below(inFlight.length), 1);
        if (ended === undefined) continue;
        const outcome = random.pick(['success', 'error', 'aborted'] as const);
        const tokens =
          random.below(3) === 0
            ? undefined
            : {
                prompt: random.below(1000),
                completion: random.below(1000),
                estimated: random.below(4) === 0,
              };
        const end: UsageEnd = {
          outcome,
          provider: random.pick(['openai', 'azure']),
          target: `target ${random.below(250)}`,
          model: `model ${random.below(500)}`,
          ...(tokens && { tokens }),
        };
        ended.end(end);
        if (random.below(3) === 0) ended.end({ ...end, outcome: 'error' });
        expected.total += 1;
        expected[outcome] += 1;
        if (streams.get(ended) === true) expected.streaming += 1;
        expected.prompt += tokens?.prompt ?? 0;
        expected.completion += tokens?.completion ?? 0;
        begun -= 1;
      } else if (dice === 99 && random.below(20) === 0) {
        counters.reset();
        for (const name of Object.keys(expected) as (keyof typeof expected)[]) expected[name] = 0;
      }
    }

    const usage = counters.snapshot();
    const sum = (rows: readonly object[], name: string): number =>
      rows.reduce((total, row) => total + ((row as Record<string, number>)[name] ?? 0), 0);
    const { total, success, error, aborted, streaming } = expected;
    expect(usage.requests).toEqual({ total, success, error, aborted, streaming, inFlight: begun });
    expect(total).toBe(success + error + aborted);
    expect(usage.tokens).toMatchObject({
      prompt: expected.prompt,
      completion: expected.completion,
      total: expected.prompt + expected.completion,
    });
    expect(usage.errorRate).toBeCloseTo(total === 0 ? 0 : error / total);
    expect(usage.streamingRatio).toBeCloseTo(total === 0 ? 0 : streaming / total);
    for (const rows of [
      usage.models,
      usage.providers,
      usage.targets,
      usage.actions,
      usage.callers,
      usage.history,
    ]) {
      expect(rows.length).toBeLessThanOrEqual(1440);
      expect(sum(rows, 'requests')).toBe(total);
      expect(sum(rows, 'errors')).toBe(error);
      expect(sum(rows, 'promptTokens')).toBe(expected.prompt);
      expect(sum(rows, 'completionTokens')).toBe(expected.completion);
    }
    const series = counters.series();
    const counted = series.flatMap((row) => [row.success.count, row.error.count, row.aborted.count]);
    expect(counted.reduce((all, count) => all + count, 0)).toBe(total);
  });
});
