import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CallFailure, createAdminApi, type Runtime } from './admin-api.ts';
import { whyRefused } from './refusal.ts';
import type { Theme } from './theme.ts';
import { Mark, ThemeButton } from './ui/chrome.tsx';

interface SignInProps {
  hub: string;
  notice: string | undefined;
  theme: Theme;
  toggleTheme(): void;
  onSignIn(key: string, onThisDevice: boolean, first: Runtime): void;
}

/** Asks for the admin key and tries it, so that what follows is never an empty page. */
export function SignIn({ hub, notice, theme, toggleTheme, onSignIn }: SignInProps) {
  const [key, setKey] = useState('');
  const [onThisDevice, setOnThisDevice] = useState(false);
  const [isTrying, setTrying] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  // Before the first paint, so that typing goes where it should from the first letter.
  useLayoutEffect(() => input.current?.focus(), []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const given = key.trim();
    // A header takes no other characters.
    if (!/^[\x20-\x7e]+$/.test(given)) {
      setRefusal('Type the admin key: letters, digits and signs of ASCII.');
      return;
    }
    setTrying(true);
    setRefusal(undefined);
    try {
      const first = await createAdminApi(hub, given).runtime(new AbortController().signal);
      onSignIn(given, onThisDevice, first);
    } catch (error) {
      setRefusal(error instanceof CallFailure ? whyRefused(error) : String(error));
      setTrying(false);
      input.current?.focus();
    }
  }

  return (
    <main class="sign-in">
      <form class="card sign-in-card" onSubmit={submit} noValidate>
        <div class="row spread">
          <h1 class="brand">
            <Mark /> Hub <span class="quiet">admin</span>
          </h1>
          <ThemeButton theme={theme} toggle={toggleTheme} />
        </div>
        <p class="quiet address">{hub}</p>
        <label class="field">
          <span>Admin key</span>
          <input
            ref={input}
            type="password"
            name="admin-key"
            autocomplete="off"
            spellcheck={false}
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
            aria-invalid={refusal !== undefined}
            aria-describedby="sign-in-message"
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={onThisDevice}
            onChange={(event) => setOnThisDevice(event.currentTarget.checked)}
          />
          <span>Stay signed in on this device</span>
        </label>
        <button type="submit" class="button primary" disabled={isTrying}>
          {isTrying ? 'Signing in…' : 'Sign in'}
        </button>
        <p
          id="sign-in-message"
          class={refusal === undefined ? 'quiet message' : 'message bad-text'}
          role="status"
        >
          {refusal ??
            notice ??
            'ADMIN_API_KEY in the hub’s .env. It stays in this browser and goes to this hub only.'}
        </p>
      </form>
    </main>
  );
}
