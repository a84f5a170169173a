import type { Runtime } from './admin-api.ts';
import { clock, duration, plural } from './format.ts';
import type { Problem } from './problems.ts';
import type { TabId } from './tab-ids.ts';

interface StatusLineProps {
  problems: readonly Problem[];
  runtime: Runtime | undefined;
  updatedAt: Date | undefined;
  onShow(tab: TabId): void;
}

/** Says at a glance whether all is well, and what is not. */
export function StatusLine({ problems, runtime, updatedAt, onShow }: StatusLineProps) {
  const worst = problems[0]?.severity ?? (runtime === undefined ? 'wait' : 'good');
  return (
    <section class={`status-line ${worst}`} aria-label="Status">
      <div class="status-head">
        <span class={`dot ${worst}`} aria-hidden="true" />
        <div role="status" class="status-words">
          <strong data-testid="status">{headline(problems, runtime)}</strong>
        </div>
        {updatedAt !== undefined && <span class="quiet numbers status-time">as of {clock(updatedAt)}</span>}
      </div>
      {problems.length > 0 && (
        <ul class="problems">
          {problems.map(({ text, tab, severity }) => (
            <li key={text}>
              <span class={`dot small ${severity}`} aria-hidden="true" />
              <span>{text}</span>
              {tab !== undefined && (
                <button type="button" class="link" onClick={() => onShow(tab)} aria-label={`Show: ${text}`}>
                  Show
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {problems.length === 0 && runtime !== undefined && <p class="quiet status-facts">{facts(runtime)}</p>}
    </section>
  );
}

function headline(problems: readonly Problem[], runtime: Runtime | undefined): string {
  if (problems.length > 0)
    return problems.length === 1 ? 'One thing needs attention' : `${problems.length} things need attention`;
  return runtime === undefined ? 'Asking the hub…' : 'All is well';
}

function facts({ configurationSummary, mcpConnections, process }: Runtime): string {
  const { targets, proxies } = configurationSummary;
  const connected = mcpConnections.filter(({ healthy }) => healthy).length;
  return [
    plural(targets.count, 'AI target'),
    `${connected} of ${plural(mcpConnections.length, 'tool server')} connected`,
    plural(proxies.count, 'proxy', 'proxies'),
    `up for ${duration(process.uptimeSeconds)}`,
  ].join(' · ');
}
