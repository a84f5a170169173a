import { useEffect, useState } from 'preact/hooks';
import type { ServerStats } from '../../../lib/mcp/tool-server.ts';
import { clock, count, DASH, dateTime, duration, ms, plural } from '../format.ts';
import { Badge, Facts, type Tone } from '../ui/parts.tsx';
import { Notice } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';

const TONES: Record<ServerStats['status'], Tone> = {
  connected: 'good',
  degraded: 'warn',
  connecting: 'wait',
  closing: 'wait',
  disconnected: 'quiet',
  backoff: 'bad',
  error: 'bad',
};

interface ToolServerProps {
  server: ServerStats;
  /** Whether the rest is shown at first. */
  isOpen: boolean;
  onTry(): void;
}

/** One tool server: its state in a line, the rest on demand. */
export function ToolServer({ server, isOpen, onTry }: ToolServerProps) {
  const { name, status, latencyMs, errors, tools } = server;
  const failed = Object.values(errors).reduce((total, number) => total + number, 0);
  return (
    <details class="card server" data-server={name} open={isOpen}>
      <summary>
        <span class="server-name">
          <strong class="cut">{name}</strong>
          <Badge tone={TONES[status]}>{status}</Badge>
          {server.crashLoop && <Badge tone="bad">crash loop</Badge>}
          <span class="quiet small cut">
            {server.transport}
            {server.autoConnect ? ', autoConnect' : ''}
          </span>
        </span>
        <span class="server-numbers numbers">
          <span>
            <b>{count(tools.length)}</b> <span class="quiet">{tools.length === 1 ? 'tool' : 'tools'}</span>
          </span>
          <span>
            <b>{count(server.invocations)}</b>{' '}
            <span class="quiet">{server.invocations === 1 ? 'call' : 'calls'}</span>
          </span>
          <span>
            <b class={failed > 0 ? 'bad-text' : ''}>{count(failed)}</b>{' '}
            <span class="quiet">{failed === 1 ? 'error' : 'errors'}</span>
          </span>
          <span>
            <b>{ms(latencyMs.avg)}</b> <span class="quiet">average</span>
          </span>
        </span>
        <Retry at={server.nextRetryAt} />
      </summary>
      <div class="server-body stack">
        {server.lastError !== null && (
          <Notice title={`Last error: ${server.lastError.code}`} tone={server.healthy ? 'quiet' : 'bad'}>
            {server.lastError.message} <span class="numbers">({dateTime(server.lastError.at)})</span>
          </Notice>
        )}
        <div class="columns">
          <Facts rows={connectionFacts(server)} />
          <Facts rows={callFacts(server)} />
        </div>
        <Tools server={server} onTry={onTry} />
        <Stderr lines={server.stderrTail} />
      </div>
    </details>
  );
}

/** Counts down to the next attempt. */
function Retry({ at }: { at: string | null }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (at === null) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [at]);
  if (at === null) return null;
  const seconds = Math.max(0, Math.ceil((Date.parse(at) - now) / 1000));
  return (
    <span class="quiet numbers retry">
      {seconds === 0 ? 'tries again now' : `tries again in ${duration(seconds)}`}
    </span>
  );
}

function connectionFacts(server: ServerStats) {
  const info = server.serverInfo;
  const version = typeof info?.version === 'string' ? ` ${info.version}` : '';
  const exit = server.exit;
  return [
    ['Transport', server.transport],
    ['Connects', server.autoConnect ? 'at start (autoConnect)' : 'at first use'],
    ['Health', server.healthy ? 'healthy' : 'not healthy'],
    ['Server', typeof info?.name === 'string' ? `${info.name}${version}` : DASH],
    ['Protocol', server.protocolVersion ?? DASH],
    ['Endpoint', <code class="long">{server.endpoint ?? DASH}</code>],
    ['Process', server.pid === undefined ? DASH : `pid ${server.pid}`],
    ['Connected', server.connectedAt === null ? DASH : `since ${clock(server.connectedAt)}`],
    ['Uptime', server.uptimeSeconds === null ? DASH : duration(server.uptimeSeconds)],
    ['Last ping', ms(server.lastPingMs)],
    ['Restarts', count(server.restarts)],
    ['Failures in a row', count(server.consecutiveFailures)],
    ['Last exit', exit === undefined ? DASH : (exit.signal ?? `code ${exit.code}`)],
  ] as const;
}

function callFacts({ latencyMs, errors, inFlight, queued, invocations }: ServerStats) {
  return [
    ['Calls', count(invocations)],
    ['In flight', count(inFlight)],
    ['Waiting', count(queued)],
    ['Tool errors', count(errors.tool)],
    ['Timeouts', count(errors.timeout)],
    ['Transport errors', count(errors.transport)],
    ['Protocol errors', count(errors.protocol)],
    ['Cancelled', count(errors.cancelled)],
    [
      'Latency',
      latencyMs.avg === null ? DASH : `${ms(latencyMs.avg)} (${ms(latencyMs.min)} to ${ms(latencyMs.max)})`,
    ],
    ['p50', ms(latencyMs.p50)],
    ['p95', ms(latencyMs.p95)],
    ['p99', ms(latencyMs.p99)],
  ] as const;
}

type Tool = ServerStats['tools'][number];

const TOOL_COLUMNS: Column<Tool>[] = [
  { title: 'Tool', show: ({ name }) => <code>{name}</code>, by: ({ name }) => name },
  { title: 'Calls', isNumber: true, show: (tool) => count(tool.invocations), by: (tool) => tool.invocations },
  { title: 'Errors', isNumber: true, show: (tool) => count(tool.errors), by: (tool) => tool.errors },
  { title: 'Timeouts', isNumber: true, show: (tool) => count(tool.timeouts), by: (tool) => tool.timeouts },
  { title: 'Average', isNumber: true, show: (tool) => ms(tool.avgMs), by: (tool) => tool.avgMs },
  { title: 'p95', isNumber: true, show: (tool) => ms(tool.p95Ms), by: (tool) => tool.p95Ms },
  {
    title: 'Last call',
    isNumber: true,
    show: (tool) => (tool.lastInvokedAt === null ? DASH : clock(tool.lastInvokedAt)),
    by: (tool) => tool.lastInvokedAt,
  },
];

function Tools({ server, onTry }: { server: ServerStats; onTry(): void }) {
  return (
    <div class="stack tight">
      <div class="row spread">
        <h3>Tools</h3>
        {server.tools.length > 0 && (
          <button type="button" class="button small" onClick={onTry}>
            Try a tool
          </button>
        )}
      </div>
      <Table
        label={`Tools of ${server.name}`}
        columns={TOOL_COLUMNS}
        rows={server.tools}
        keyOf={({ name }) => name}
        empty={
          <Notice title="No tools known">
            {server.status === 'disconnected'
              ? 'This server is started by its first use: list its tools below.'
              : 'The server has not listed any.'}
          </Notice>
        }
      />
      {server.invalidTools.length > 0 && (
        <details>
          <summary class="quiet">{plural(server.invalidTools.length, 'tool')} not offered</summary>
          <ul class="plain-list">
            {server.invalidTools.map(({ name, reason }) => (
              <li key={name}>
                <code>{name}</code> <span class="quiet">{reason}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function Stderr({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <details>
      <summary class="quiet">Stderr, last {plural(lines.length, 'line')}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre class="code" tabIndex={0}>
        {lines.join('\n')}
      </pre>
    </details>
  );
}
