import type { ComponentChildren } from 'preact';

/** Keeps the room of what is to come. */
export function Loading() {
  return (
    <div class="stack" aria-busy="true">
      <span class="visually-hidden">Loading…</span>
      <div class="stat-grid">
        {[1, 2, 3, 4].map((place) => (
          <div key={place} class="card skeleton stat" />
        ))}
      </div>
      <div class="card skeleton tall" />
    </div>
  );
}

interface NoticeProps {
  title: string;
  children: ComponentChildren;
  tone?: 'bad' | 'quiet';
}

/** What stands where there is nothing to show: why, and what would change it. */
export function Notice({ title, children, tone = 'quiet' }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : undefined}>
      <p class="notice-title">{title}</p>
      <p class="quiet">{children}</p>
    </div>
  );
}

/** Instead of usage, while nobody can say what it is. */
export function NoUsage() {
  return (
    <Notice title="No usage while AI-Link is down" tone="bad">
      The counters live in AI-Link. It is started again by itself; they then begin at zero.
    </Notice>
  );
}
