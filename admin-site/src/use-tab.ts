import { useEffect, useState } from 'preact/hooks';
import { TABS, type TabId } from './tab-ids.ts';

function fromAddress(): TabId {
  const named = location.hash.slice(1);
  return TABS.find(({ id }) => id === named)?.id ?? 'dashboard';
}

/** The tab that is shown. It stands in the address, so that a reload and a bookmark keep it. */
export function useTab(): [TabId, (tab: TabId) => void] {
  const [tab, setTab] = useState(fromAddress);
  useEffect(() => {
    const follow = () => setTab(fromAddress());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  function select(next: TabId): void {
    history.replaceState(null, '', `#${next}`);
    setTab(next);
  }
  return [tab, select];
}
