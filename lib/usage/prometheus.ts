import type { BucketCounter } from './bucket-counter.ts';

export type Labels = Readonly<Record<string, string | number>>;

/** Puts a Prometheus text together (exposition format 0.0.4): one block a metric, samples under it. */
export interface PrometheusText {
  counter(name: string, help: string, samples: readonly [Labels, number][]): void;
  gauge(name: string, help: string, samples: readonly [Labels, number][]): void;
  histogram(name: string, help: string, samples: readonly [Labels, BucketCounter][]): void;
  summary(name: string, help: string, samples: readonly [Labels, Summary][]): void;
  toString(): string;
}

/** Quantiles may be null where nothing was measured. */
export interface Summary {
  quantiles: readonly [quantile: number, value: number | null][];
  sum: number;
  count: number;
}

const escapeHelp = (text: string): string => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
const escapeValue = (text: string): string => escapeHelp(text).replace(/"/g, '\\"');

/** Labels without a value are left out: to Prometheus an empty label and none are the same. */
function labelText(labels: Labels): string {
  const parts = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}="${escapeValue(String(value))}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const numberText = (value: number): string =>
  value === Number.POSITIVE_INFINITY ? '+Inf' : String(Math.round(value * 1e9) / 1e9);

export function createPrometheusText(): PrometheusText {
  const lines: string[] = [];
  const sample = (name: string, labels: Labels, value: number): void => {
    lines.push(`${name}${labelText(labels)} ${numberText(value)}`);
  };
  const head = (name: string, type: string, help: string): void => {
    lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`);
  };
  const plain = (type: string) => (name: string, help: string, samples: readonly [Labels, number][]) => {
    head(name, type, help);
    for (const [labels, value] of samples) sample(name, labels, value);
  };
  return {
    counter: plain('counter'),
    gauge: plain('gauge'),
    histogram(name, help, samples) {
      head(name, 'histogram', help);
      for (const [labels, values] of samples) {
        for (const [bound, count] of values.cumulative()) {
          sample(`${name}_bucket`, { ...labels, le: numberText(bound) }, count);
        }
        sample(`${name}_sum`, labels, values.sum);
        sample(`${name}_count`, labels, values.count);
      }
    },
    summary(name, help, samples) {
      head(name, 'summary', help);
      for (const [labels, { quantiles, sum, count }] of samples) {
        for (const [quantile, value] of quantiles) {
          if (value !== null) sample(name, { ...labels, quantile }, value);
        }
        sample(`${name}_sum`, labels, sum);
        sample(`${name}_count`, labels, count);
      }
    },
    toString: () => `${lines.join('\n')}\n`,
  };
}
