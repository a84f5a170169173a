import type { ComponentChildren } from 'preact';

interface CardProps {
  title: string;
  /** At the right end of the title. */
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
}

export function Card({ title, aside, children, class: extra = '' }: CardProps) {
  return (
    <section class={`card ${extra}`} aria-label={title}>
      <div class="card-head">
        <h2>{title}</h2>
        {aside !== undefined && <div class="card-aside">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

interface StatProps {
  label: string;
  value: string;
  /** A second line, smaller. */
  note?: ComponentChildren;
  tone?: 'bad' | 'warn' | undefined;
  id?: string;
}

export function Stat({ label, value, note, tone, id }: StatProps) {
  return (
    <div class="card stat">
      <dt>{label}</dt>
      <dd class={`stat-value numbers ${tone ?? ''}`} data-testid={id}>
        {value}
      </dd>
      <dd class="stat-note quiet numbers">{note ?? '\u00a0'}</dd>
    </div>
  );
}

export function Facts({ rows }: { rows: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="numbers">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'wait';

export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

interface SegmentsProps<T extends string> {
  label: string;
  options: readonly { value: T; text: string }[];
  value: T;
  onChange(value: NoInfer<T>): void;
}

/** One of a few. */
export function Segments<T extends string>({ label, options, value, onChange }: SegmentsProps<T>) {
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} class={option.value === value ? 'on' : ''}>
          <input
            type="radio"
            class="visually-hidden"
            name={label}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.text}
        </label>
      ))}
    </fieldset>
  );
}
