import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import type { Theme } from '../theme.ts';

export interface ChartSeries {
  label: string;
  /** Name of a CSS variable. */
  color: string;
  values: readonly (number | null)[];
}

interface ChartProps {
  title: string;
  /** Seconds since the epoch, ascending. */
  times: readonly number[];
  series: readonly ChartSeries[];
  format(value: number): string;
  /** Said instead of a summary when nothing has been counted. */
  empty: string;
  theme: Theme;
}

const HEIGHT = 168;
/** Of the scale: counts have no halves. */
const WHOLE_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].flatMap((step) => [step, 2 * step, 5 * step]);

/** Lines over time. Under the pointer the legend shows that moment, otherwise the whole. */
export function Chart({ title, times, series, format, empty, theme }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const [at, setAt] = useState<number | null>(null);
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  const data = useMemo(() => {
    // Lines along the bottom would only be in the way of the words.
    const columns = series.map(({ values }) => (isEmpty ? values.map(() => null) : values));
    return [times, ...columns] as unknown as uPlot.AlignedData;
  }, [times, series, isEmpty]);
  const looks = JSON.stringify(series.map(({ label, color }) => [label, color]));

  // What is drawn flows in by the effect below; only other looks need another plot.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const made = new uPlot(optionsOf(element, series, format, setAt), data, element);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [looks, theme]);
  useEffect(() => plot.current?.setData(data), [data]);

  const shown = at === null ? undefined : times[at];
  return (
    <figure class="card chart" aria-label={title}>
      <figcaption class="chart-head">
        <h2>{title}</h2>
        <span class="quiet small numbers">{shown === undefined ? '' : timeOf(shown)}</span>
      </figcaption>
      <div class="chart-place" ref={place} aria-hidden="true" />
      {isEmpty && <p class="chart-empty quiet">{empty}</p>}
      <ul class="legend">
        {series.map(({ label, color, values }) => {
          const value = at === null ? undefined : values[at];
          return (
            <li key={label}>
              <span class="swatch" style={{ background: `var(${color})` }} />
              {label}
              <span class="numbers legend-value">
                {at === null ? '' : value == null ? '–' : format(value)}
              </span>
            </li>
          );
        })}
      </ul>
    </figure>
  );
}

const timeOf = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hour12: false });

function optionsOf(
  element: HTMLElement,
  series: readonly ChartSeries[],
  format: (value: number) => string,
  onPoint: (index: number | null) => void,
): uPlot.Options {
  const css = getComputedStyle(document.documentElement);
  const color = (name: string) => css.getPropertyValue(name).trim();
  const font = `11px ${color('--font')}`;
  const axis: uPlot.Axis = {
    stroke: color('--quiet'),
    font,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
    padding: [10, 18, 0, 0],
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, Math.max(high * 1.15, 1)] } },
    axes: [
      { ...axis, grid: { show: false }, size: 26, space: 70, values: (_plot, ticks) => ticks.map(timeOf) },
      {
        ...axis,
        size: 56,
        space: 36,
        incrs: WHOLE_STEPS,
        values: (_plot, ticks) => ticks.map(short(format)),
      },
    ],
    series: [
      {},
      ...series.map(({ label, color: name }, place) => ({
        label,
        stroke: color(name),
        ...(place === 0 && { fill: `${color(name)}22` }),
        width: 1.75,
        spanGaps: true,
        points: { show: (_plot: uPlot, index: number) => isAlone(index, _plot), size: 5 },
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

/** A lone point has no line to be seen by. */
function isAlone(series: number, plot: uPlot): boolean {
  const values = plot.data[series] ?? [];
  return values.filter((value) => value != null).length === 1;
}

/** Labels of an axis: only whole numbers, thousands in short. */
const short = (format: (value: number) => string) => (value: number | null) => {
  if (value === null || !Number.isInteger(value)) return '';
  if (value === 0) return '0';
  return value >= 10_000 ? `${Math.round(value / 1000)}k` : format(value).replace('.00', '');
};
