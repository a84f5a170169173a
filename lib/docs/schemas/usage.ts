import { type Static, Type } from '@sinclair/typebox';
import type { LatencySummary, RuntimeUsage } from '../../usage/usage.ts';
import { answer, counts, milliseconds, orNull, ref, text, time, whole } from './vocabulary.ts';

const latency = answer(
  {
    avg: orNull(milliseconds),
    min: orNull(milliseconds),
    max: orNull(milliseconds),
    p50: orNull(milliseconds),
    p95: orNull(milliseconds),
    p99: orNull(milliseconds),
  },
  'Milliseconds; null while nothing was measured.',
);
const summary = ref<LatencySummary>('Latency');

const row = {
  requests: whole(),
  errors: whole(),
  promptTokens: whole(),
  completionTokens: whole(),
  latencyMs: summary,
  firstTokenMs: summary,
  tokensPerSecond: orNull(Type.Number({ minimum: 0 })),
};

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });

const usage = answer({
  since: time('Start, or last reset.'),
  uptimeSeconds: whole(),
  requests: answer({
    total: whole(),
    success: whole(),
    error: whole(),
    aborted: whole('The caller left.'),
    inFlight: whole(),
    streaming: whole(),
  }),
  streamingRatio: share('streaming / total'),
  errorRate: share('error / total'),
  tokens: answer({
    prompt: whole(),
    completion: whole(),
    total: whole(),
    cached: whole(),
    reasoning: whole(),
    estimated: whole('Of prompt and completion, what no provider reported.'),
  }),
  cost: Type.Optional(Type.Number({ minimum: 0, description: 'By the configured prices.' })),
  activeModels: Type.Array(text()),
  latencyMs: summary,
  firstTokenMs: summary,
  models: Type.Array(answer({ provider: text(), model: text(), ...row })),
  providers: Type.Array(answer({ provider: text(), ...row })),
  targets: Type.Array(answer({ target: text(), ...row })),
  actions: Type.Array(answer({ action: text(), ...row })),
  finishReasons: counts('Answers by the reason why they ended.'),
  callers: Type.Array(
    answer({
      caller: text(),
      requests: whole(),
      errors: whole(),
      promptTokens: whole(),
      completionTokens: whole(),
    }),
  ),
  proxies: Type.Array(
    answer({
      id: text(),
      requests: whole(),
      errors: whole(),
      statuses: counts('Requests by status.'),
      latencyMs: summary,
    }),
  ),
  history: Type.Array(
    answer({
      at: time(),
      requests: whole(),
      errors: whole(),
      promptTokens: whole(),
      completionTokens: whole(),
      latencyAvgMs: orNull(milliseconds),
    }),
    { description: 'One row a minute, at most 24 hours; the last is the running minute.' },
  ),
});

// What the hub counts and what is written here cannot come apart: this does not compile then.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const isLatency: Same<Static<typeof latency>, LatencySummary> = true;
const isUsage: Same<Static<typeof usage>, RuntimeUsage> = true;

export const usageSchemas = isLatency && isUsage ? { Latency: latency, RuntimeUsage: usage } : {};
