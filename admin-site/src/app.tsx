import { useCallback, useMemo, useState } from 'preact/hooks';
import { type CallFailure, createAdminApi, type Runtime } from './admin-api.ts';
import { hubAddress } from './hub-address.ts';
import { Panel } from './panel.tsx';
import { whyRefused } from './refusal.ts';
import { SignIn } from './sign-in.tsx';
import { createStoredKey } from './stored-key.ts';
import { useTheme } from './theme.ts';
import { forgetBearer } from './use-bearer.ts';

const hub = hubAddress(location, '/admin/panel');
const storedKey = createStoredKey(hub);

interface Session {
  key: string;
  /** What signing in has brought; undefined for a key of before. */
  first: Runtime | undefined;
}

function sessionOfBefore(): Session | undefined {
  const key = storedKey.read();
  return key === undefined ? undefined : { key, first: undefined };
}

export function App() {
  const [theme, toggleTheme] = useTheme();
  const [session, setSession] = useState(sessionOfBefore);
  const [notice, setNotice] = useState<string>();
  const api = useMemo(() => session && createAdminApi(hub, session.key), [session]);

  const signOut = useCallback((because?: CallFailure) => {
    storedKey.clear();
    forgetBearer(hub);
    setNotice(because === undefined ? 'You are signed out; the key is forgotten.' : whyRefused(because));
    setSession(undefined);
  }, []);

  function signIn(key: string, onThisDevice: boolean, first: Runtime): void {
    storedKey.keep(key, onThisDevice);
    setNotice(undefined);
    setSession({ key, first });
  }

  if (session === undefined || api === undefined) {
    return <SignIn hub={hub} notice={notice} theme={theme} toggleTheme={toggleTheme} onSignIn={signIn} />;
  }
  return (
    <Panel
      hub={hub}
      api={api}
      first={session.first}
      theme={theme}
      toggleTheme={toggleTheme}
      onSignOut={() => signOut()}
      onRefused={signOut}
    />
  );
}
