import { count, percent } from '../format.ts';

export interface Part {
  label: string;
  value: number;
}

const COLORS = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5'];

/** Shares of a whole, as one bar and a list with numbers. The largest first; what is past the colours is one rest. */
export function Split({
  parts,
  format = count,
  unit,
}: {
  parts: readonly Part[];
  format?(value: number): string;
  unit: string;
}) {
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  const shown = folded(parts);
  return (
    <>
      <div class="split" aria-hidden="true">
        {shown.map(({ label, value }, index) => (
          <span
            key={label}
            style={{
              width: `${total === 0 ? 0 : (value / total) * 100}%`,
              background: `var(${COLORS[index]})`,
            }}
          />
        ))}
      </div>
      <ul class="split-list">
        {shown.map(({ label, value }, index) => (
          <li key={label}>
            <span class="swatch" style={{ background: `var(${COLORS[index]})` }} aria-hidden="true" />
            <span class="cut">{label}</span>
            <span class="numbers">
              {format(value)}
              <span class="visually-hidden"> {unit}</span>
            </span>
            <span class="numbers quiet">{total === 0 ? '' : percent(value / total)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function folded(parts: readonly Part[]): Part[] {
  if (parts.length <= COLORS.length) return [...parts];
  const sorted = [...parts].sort((a, b) => b.value - a.value);
  const rest = sorted.slice(COLORS.length - 1).reduce((sum, { value }) => sum + value, 0);
  return [...sorted.slice(0, COLORS.length - 1), { label: 'everything else', value: rest }];
}
