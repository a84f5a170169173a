import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';

const NAME = 'hub-panel-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme | undefined {
  const kept = localStorage.getItem(NAME);
  return kept === 'light' || kept === 'dark' ? kept : undefined;
}

const current = (): Theme => chosen() ?? (system.matches ? 'dark' : 'light');

/** Before the first paint, so that nothing flashes. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = current();
}

/** The theme: the system's until one is chosen; a choice is kept. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(current);
  useEffect(() => {
    const follow = () => setTheme(current());
    system.addEventListener('change', follow);
    return () => system.removeEventListener('change', follow);
  }, []);
  // While rendering, so that charts, which read colours afterwards, read the new ones.
  document.documentElement.dataset.theme = theme;
  function toggle(): void {
    const next = theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem(NAME, next);
    setTheme(next);
  }
  return [theme, toggle];
}
