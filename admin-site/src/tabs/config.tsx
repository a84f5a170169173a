import { useEffect, useState } from 'preact/hooks';
import type { AdminApi } from '../admin-api.ts';
import { holds, JsonTree } from '../ui/json-tree.tsx';
import { Card } from '../ui/parts.tsx';
import { SaveJson } from '../ui/save-json.tsx';
import { Loading, Notice } from '../ui/states.tsx';

/** The effective configuration, without its secrets. It changes only with a restart. */
export function ConfigTab({ api, refreshes }: { api: AdminApi; refreshes: number }) {
  const [config, setConfig] = useState<Record<string, unknown>>();
  const [failure, setFailure] = useState<string>();
  const [search, setSearch] = useState('');

  // A refresh by hand asks again.
  useEffect(() => {
    const control = new AbortController();
    api
      .config(control.signal)
      .then((fresh) => {
        setConfig(fresh);
        setFailure(undefined);
      })
      .catch((error: unknown) => {
        if (!control.signal.aborted) setFailure(error instanceof Error ? error.message : String(error));
      });
    return () => control.abort();
  }, [api, refreshes]);

  if (config === undefined && failure === undefined) return <Loading />;
  const wanted = search.trim().toLowerCase();
  const isFound = config !== undefined && (wanted === '' || holds('', config, wanted));
  return (
    <Card
      title="Effective configuration"
      aside={
        config !== undefined && (
          <>
            <input
              type="search"
              class="search"
              placeholder="Search names and values"
              aria-label="Search the configuration"
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
            <SaveJson value={config} name="config" />
          </>
        )
      }
    >
      <p class="quiet small">
        Defaults are filled in; secrets are <code>[REDACTED]</code> before they leave the hub.
      </p>
      {failure !== undefined && (
        <Notice title="The configuration could not be fetched" tone="bad">
          {failure}
        </Notice>
      )}
      {config !== undefined && isFound && (
        <JsonTree value={config} name="config" openTo={2} search={search} />
      )}
      {config !== undefined && !isFound && (
        <Notice title="Nothing found">No name and no value holds this text.</Notice>
      )}
    </Card>
  );
}
