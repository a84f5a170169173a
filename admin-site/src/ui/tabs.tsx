import { useEffect, useRef } from 'preact/hooks';
import { TABS, type TabId } from '../tab-ids.ts';

interface TabsProps {
  selected: TabId;
  onSelect(tab: TabId): void;
}

/** Tabs by the ARIA pattern: arrow keys, Home and End move and select. */
export function Tabs({ selected, onSelect }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const isOurs = useRef(false);

  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (isOurs.current) tab?.focus();
    isOurs.current = false;
    // Only the list moves: `scrollIntoView` would move the page too.
    if (tab && list.current) {
      list.current.scrollLeft = tab.offsetLeft - (list.current.clientWidth - tab.offsetWidth) / 2;
    }
  }, [selected]);

  function move(event: KeyboardEvent): void {
    const at = TABS.findIndex(({ id }) => id === selected);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    isOurs.current = true;
    const tab = TABS[(next + TABS.length) % TABS.length];
    if (tab !== undefined) onSelect(tab.id);
  }

  return (
    <nav class="tabs" aria-label="Sections">
      <div role="tablist" class="tabs-in" ref={list} onKeyDown={move} aria-label="Panel">
        {TABS.map(({ id, label }) => (
          <button
            type="button"
            role="tab"
            key={id}
            id={`tab-${id}`}
            aria-selected={id === selected}
            aria-controls={id === selected ? `panel-${id}` : undefined}
            tabIndex={id === selected ? 0 : -1}
            class="tab"
            onClick={() => onSelect(id)}
          >
            {label}
          </button>
        ))}
      </div>
    </nav>
  );
}
