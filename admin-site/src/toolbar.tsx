import { useEffect, useState } from 'preact/hooks';
import type { Theme } from './theme.ts';
import { IconButton, Mark, ThemeButton } from './ui/chrome.tsx';
import { REFRESH_SECONDS, type RuntimeState } from './use-runtime.ts';

interface ToolbarProps {
  hub: string;
  state: RuntimeState;
  theme: Theme;
  toggleTheme(): void;
  onReset(): void;
  onSignOut(): void;
}

export function Toolbar({ hub, state, theme, toggleTheme, onReset, onSignOut }: ToolbarProps) {
  return (
    <header class="toolbar">
      <div class="toolbar-in">
        <h1 class="brand">
          <Mark /> Hub <span class="quiet">admin</span>
        </h1>
        <span class="quiet address toolbar-address">{new URL(hub).host}</span>
        <div class="tools">
          <Countdown state={state} />
          <IconButton
            icon={state.isPaused ? 'play' : 'pause'}
            label="Pause automatic updates"
            pressed={state.isPaused}
            onClick={state.togglePause}
          />
          <IconButton icon="refresh" label="Refresh now" onClick={state.refresh} />
          <span class="tools-rule" />
          <IconButton icon="reset" label="Reset statistics" onClick={onReset} />
          <ThemeButton theme={theme} toggle={toggleTheme} />
          <IconButton icon="out" label="Sign out" onClick={onSignOut} />
        </div>
      </div>
    </header>
  );
}

/** A ring that empties until the next refresh, with the seconds beside it. */
function Countdown({ state }: { state: RuntimeState }) {
  const { dueAt, isLoading } = state;
  // Ticks by itself, so that the page is not rendered anew each second.
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    setNow(Date.now());
    if (dueAt === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [dueAt]);
  const secondsLeft = dueAt === undefined ? undefined : Math.max(0, Math.ceil((dueAt - now) / 1000));
  const words = isLoading ? 'now' : secondsLeft === undefined ? 'off' : `${secondsLeft} s`;
  const share = secondsLeft === undefined || isLoading ? 0 : Math.min(1, secondsLeft / REFRESH_SECONDS);
  return (
    <span class="countdown" title="Time to the next refresh">
      <svg viewBox="0 0 20 20" aria-hidden="true" class={isLoading ? 'ring loading' : 'ring'}>
        <circle cx="10" cy="10" r="8" />
        <circle
          cx="10"
          cy="10"
          r="8"
          class="ring-left"
          pathLength="1"
          style={{ strokeDasharray: `${share} 1` }}
        />
      </svg>
      <span class="visually-hidden">Next refresh: </span>
      <span class="countdown-text" data-testid="countdown">
        {words}
      </span>
    </span>
  );
}
