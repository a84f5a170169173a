import { useState } from 'preact/hooks';
import type { AdminApi, CallFailure, Runtime } from './admin-api.ts';
import { findProblems } from './problems.ts';
import { ResetDialog } from './reset-dialog.tsx';
import { StatusLine } from './status-line.tsx';
import type { TabId } from './tab-ids.ts';
import { AiTab } from './tabs/ai.tsx';
import { ConfigTab } from './tabs/config.tsx';
import { DashboardTab } from './tabs/dashboard.tsx';
import { McpTab } from './tabs/mcp.tsx';
import { ProxiesTab } from './tabs/proxies.tsx';
import { SystemTab } from './tabs/system.tsx';
import type { Theme } from './theme.ts';
import { Toolbar } from './toolbar.tsx';
import { Loading, Notice } from './ui/states.tsx';
import { Tabs } from './ui/tabs.tsx';
import { useBearer } from './use-bearer.ts';
import { useRuntime } from './use-runtime.ts';
import { useTab } from './use-tab.ts';

interface PanelProps {
  hub: string;
  api: AdminApi;
  first: Runtime | undefined;
  theme: Theme;
  toggleTheme(): void;
  onSignOut(): void;
  onRefused(failure: CallFailure): void;
}

/** Everything behind the key: toolbar, status line and tabs. */
export function Panel({ hub, api, first, theme, toggleTheme, onSignOut, onRefused }: PanelProps) {
  const state = useRuntime(api, first, onRefused);
  const [tab, setTab] = useTab();
  const [isResetting, setResetting] = useState(false);
  const bearer = useBearer(hub);
  const { runtime, failure } = state;

  function showTab(id: TabId, current: Runtime) {
    const usage = current.runtimeUsage;
    switch (id) {
      case 'dashboard':
        return <DashboardTab runtime={current} theme={theme} />;
      case 'ai':
        return (
          <AiTab
            usage={usage}
            targets={current.configurationSummary.targets.items}
            hub={hub}
            bearer={bearer}
            onUsed={state.refresh}
          />
        );
      case 'proxies':
        return <ProxiesTab proxies={current.configurationSummary.proxies.items} usage={usage} />;
      case 'mcp':
        return (
          <McpTab
            servers={current.mcpConnections}
            companion={current.companion}
            hub={hub}
            bearer={bearer}
            onUsed={state.refresh}
          />
        );
      case 'config':
        return <ConfigTab api={api} refreshes={state.manualRefreshes} />;
      case 'system':
        return <SystemTab runtime={current} />;
    }
  }

  return (
    <>
      <Toolbar
        hub={hub}
        state={state}
        theme={theme}
        toggleTheme={toggleTheme}
        onReset={() => setResetting(true)}
        onSignOut={onSignOut}
      />
      <Tabs selected={tab} onSelect={setTab} />
      <main class="page">
        <StatusLine
          problems={findProblems(runtime, failure)}
          runtime={runtime}
          updatedAt={state.updatedAt}
          onShow={setTab}
        />
        <div
          role="tabpanel"
          id={`panel-${tab}`}
          aria-labelledby={`tab-${tab}`}
          tabIndex={-1}
          class="tab-panel"
        >
          {runtime !== undefined && showTab(tab, runtime)}
          {runtime === undefined && failure === undefined && <Loading />}
          {runtime === undefined && failure !== undefined && (
            <Notice title="No data yet" tone="bad">
              {failure.message}. The panel tries again by itself.
            </Notice>
          )}
        </div>
      </main>
      {isResetting && (
        <ResetDialog
          api={api}
          onDone={() => {
            setResetting(false);
            state.refresh();
          }}
          onClose={() => setResetting(false)}
        />
      )}
    </>
  );
}
