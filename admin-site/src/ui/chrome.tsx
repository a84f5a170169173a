import type { ComponentChildren } from 'preact';
import type { Theme } from '../theme.ts';

/** The hub's sign. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" />
      <path d="M7 6v12M17 6v12M7 12h10" />
    </svg>
  );
}

const ICONS = {
  refresh: 'M20 11a8 8 0 1 0-2.3 6.3M20 4v7h-7',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4l13 8-13 8z',
  reset: 'M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4',
  moon: 'M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.500 10.500z',
  out: 'M9 4H5v16h4M16 8l4 4-4 4M20 12H9',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
} as const;

export function Icon({ name }: { name: keyof typeof ICONS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

interface IconButtonProps {
  icon: keyof typeof ICONS;
  label: string;
  onClick(): void;
  /** Shown beside the icon where there is room. */
  children?: ComponentChildren;
  pressed?: boolean;
}

export function IconButton({ icon, label, onClick, children, pressed }: IconButtonProps) {
  return (
    <button
      type="button"
      class="button ghost icon-button"
      onClick={onClick}
      aria-label={label}
      aria-pressed={pressed}
      title={label}
    >
      <Icon name={icon} />
      {children}
    </button>
  );
}

export function ThemeButton({ theme, toggle }: { theme: Theme; toggle(): void }) {
  const next = theme === 'dark' ? 'light' : 'dark';
  return (
    <IconButton icon={next === 'dark' ? 'moon' : 'sun'} label={`Use the ${next} theme`} onClick={toggle} />
  );
}
