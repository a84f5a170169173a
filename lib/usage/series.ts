import { createBoundedTable } from './bounded-table.ts';
import { type BucketCounter, createBucketCounter } from './bucket-counter.ts';
import type { UsageEnd } from './usage.ts';

/** Bucket bounds that the GenAI conventions ask for, in seconds. */
const DURATION_BOUNDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
/** The same for tokens of one call. */
const TOKEN_BOUNDS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];

/** What Prometheus is told of the calls with one action, provider and model. */
export interface Series {
  action: string;
  provider: string;
  model: string;
  /** Seconds. */
  success: BucketCounter;
  error: BucketCounter;
  aborted: BucketCounter;
  firstToken: BucketCounter;
  input: BucketCounter;
  output: BucketCounter;
}

/** Counts by action, provider and model, in the buckets of the OpenTelemetry conventions. */
export interface SeriesTable {
  count(action: string, end: UsageEnd, ms: number): void;
  all(): Series[];
  clear(): void;
}

/** Between the parts of a label; in no name of an action or a provider. */
const BETWEEN = '\n';

export function createSeriesTable(): SeriesTable {
  const table = createBoundedTable<Series>((label) => {
    const [action = '', provider = label, ...model] = label.split(BETWEEN);
    return {
      action,
      provider,
      model: model.join(BETWEEN),
      success: createBucketCounter(DURATION_BOUNDS),
      error: createBucketCounter(DURATION_BOUNDS),
      aborted: createBucketCounter(DURATION_BOUNDS),
      firstToken: createBucketCounter(DURATION_BOUNDS),
      input: createBucketCounter(TOKEN_BOUNDS),
      output: createBucketCounter(TOKEN_BOUNDS),
    };
  });
  return {
    count(action, end, ms) {
      const { provider = '', model = '', tokens, firstTokenMs } = end;
      const series = table.row(`${action}${BETWEEN}${provider}${BETWEEN}${model}`);
      series[end.outcome].record(ms / 1000);
      if (firstTokenMs !== undefined) series.firstToken.record(firstTokenMs / 1000);
      if (tokens !== undefined) {
        series.input.record(tokens.prompt);
        series.output.record(tokens.completion);
      }
    },
    all: () => [...table.rows()].map(([, series]) => series),
    clear: table.clear,
  };
}
