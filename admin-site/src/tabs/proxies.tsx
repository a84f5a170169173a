import type { RuntimeUsage } from '../../../lib/usage/usage.ts';
import type { ProxyItem } from '../admin-api.ts';
import { count, DASH, ms, percent } from '../format.ts';
import { Badge, Card } from '../ui/parts.tsx';
import { SaveJson } from '../ui/save-json.tsx';
import { Notice, NoUsage } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';

type Counts = RuntimeUsage['proxies'][number];
type Row = ProxyItem & { counts: Counts | undefined };

interface ProxiesTabProps {
  proxies: readonly ProxyItem[];
  usage: RuntimeUsage | null;
}

export function ProxiesTab({ proxies, usage }: ProxiesTabProps) {
  const rows = proxies.map((proxy) => ({
    ...proxy,
    counts: usage?.proxies.find(({ id }) => id === proxy.id),
  }));
  return (
    <div class="stack">
      {usage === null && proxies.length > 0 && <NoUsage />}
      <Card title="Proxies" aside={proxies.length > 0 && <SaveJson value={rows} name="proxies" />}>
        <Table
          label="Proxies"
          columns={columnsOf(usage !== null)}
          rows={rows}
          keyOf={({ id }) => id}
          empty={
            <Notice title="No proxies are configured">
              A proxy puts a service of yours behind the hub: add one under proxies in config.yaml.
            </Notice>
          }
        />
      </Card>
    </div>
  );
}

/** @param isCounting false while nobody knows the counts: they are then dashes, not zeros */
function columnsOf(isCounting: boolean): Column<Row>[] {
  const counted = (value: (counts: Counts) => number) => (row: Row) =>
    row.counts === undefined ? (isCounting ? 0 : null) : value(row.counts);
  const shown = (value: number | null) => (value === null ? DASH : count(value));
  const requests = counted((counts) => counts.requests);
  const errors = counted((counts) => counts.errors);
  return [
    { title: 'Proxy', show: ({ id }) => <code>{id}</code>, by: ({ id }) => id },
    { title: 'URL', show: ({ url }) => <code class="long">{url}</code>, by: ({ url }) => url },
    { title: 'Requests', isNumber: true, show: (row) => shown(requests(row)), by: requests },
    { title: 'Errors', isNumber: true, show: (row) => shown(errors(row)), by: errors },
    {
      title: 'Error rate',
      isNumber: true,
      show: ({ counts }) => (counts && counts.requests > 0 ? percent(counts.errors / counts.requests) : DASH),
    },
    { title: 'Statuses', show: ({ counts }) => <Statuses statuses={counts?.statuses ?? {}} /> },
    {
      title: 'Access',
      show: ({ auth }) => <Badge tone={auth ? 'good' : 'quiet'}>{auth ? 'authenticated' : 'public'}</Badge>,
      by: ({ auth }) => String(auth),
    },
    { title: 'Removed headers', show: ({ removeHeaders }) => <Names names={removeHeaders} /> },
    {
      title: 'Removed response headers',
      show: ({ removeResponseHeaders }) => <Names names={removeResponseHeaders} />,
    },
    {
      title: 'p50',
      isNumber: true,
      show: ({ counts }) => ms(counts?.latencyMs.p50 ?? null),
      by: ({ counts }) => counts?.latencyMs.p50 ?? null,
    },
    {
      title: 'p95',
      isNumber: true,
      show: ({ counts }) => ms(counts?.latencyMs.p95 ?? null),
      by: ({ counts }) => counts?.latencyMs.p95 ?? null,
    },
    { title: 'Timeout', isNumber: true, show: ({ timeout }) => ms(timeout), by: ({ timeout }) => timeout },
  ];
}

function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return <span class="quiet">none</span>;
  return (
    <span class="names">
      {names.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </span>
  );
}

function Statuses({ statuses }: { statuses: Record<string, number> }) {
  const rows = Object.entries(statuses);
  if (rows.length === 0) return <span class="quiet">{DASH}</span>;
  return (
    <span class="names">
      {rows.map(([status, number]) => (
        <Badge key={status} tone={status >= '500' ? 'bad' : status >= '400' ? 'warn' : 'quiet'}>
          {status} × {count(number)}
        </Badge>
      ))}
    </span>
  );
}
