import { useMemo, useState } from 'preact/hooks';
import type { RuntimeUsage } from '../../../lib/usage/usage.ts';
import type { Runtime } from '../admin-api.ts';
import { cost, count, dateTime, duration, ms, percent, plural } from '../format.ts';
import { type Range, timelineOf } from '../history.ts';
import type { Theme } from '../theme.ts';
import { Chart } from '../ui/chart.tsx';
import { Card, Segments, Stat } from '../ui/parts.tsx';
import { Split } from '../ui/split.tsx';
import { Notice, NoUsage } from '../ui/states.tsx';

const RANGES = [
  { value: 'hour', text: 'Last hour' },
  { value: 'day', text: 'Last day' },
] as const;

export function DashboardTab({ runtime, theme }: { runtime: Runtime; theme: Theme }) {
  const usage = runtime.runtimeUsage;
  if (usage === null) return <NoUsage />;
  return (
    <div class="stack">
      <Totals usage={usage} />
      <Charts usage={usage} theme={theme} />
      <div class="columns">
        <Card title="Finish reasons">
          <FinishReasons reasons={usage.finishReasons} />
        </Card>
        <Card title="Active models" aside={<span class="quiet">last 24 hours</span>}>
          <ActiveModels usage={usage} />
        </Card>
        <Card title="Tool calls">
          <ToolCalls runtime={runtime} />
        </Card>
      </div>
    </div>
  );
}

function Totals({ usage }: { usage: RuntimeUsage }) {
  const { requests, tokens, latencyMs, firstTokenMs } = usage;
  const open = requests.inFlight === 0 ? 'none in flight' : `${count(requests.inFlight)} in flight`;
  return (
    <dl class="stat-grid roomy">
      <Stat
        id="requests"
        label="AI requests"
        value={count(requests.total)}
        note={`${open} · ${count(requests.aborted)} aborted`}
      />
      <Stat
        id="error-rate"
        label="Error rate"
        value={percent(usage.errorRate)}
        tone={usage.errorRate >= 0.1 ? 'bad' : usage.errorRate > 0 ? 'warn' : undefined}
        note={plural(requests.error, 'error')}
      />
      <Stat
        id="tokens"
        label="Tokens"
        value={count(tokens.total)}
        note={`${count(tokens.prompt)} prompt · ${count(tokens.completion)} completion`}
      />
      <Stat
        id="latency"
        label="Latency, median"
        value={ms(latencyMs.p50)}
        note={`95 %: ${ms(latencyMs.p95)} · first token: ${ms(firstTokenMs.p50)}`}
      />
      <Stat
        id="streaming"
        label="Streaming"
        value={percent(usage.streamingRatio)}
        note={plural(requests.streaming, 'stream')}
      />
      {usage.cost === undefined ? (
        <Stat
          label="Counting for"
          value={duration(usage.uptimeSeconds)}
          note={`since ${dateTime(usage.since)}`}
        />
      ) : (
        <Stat id="cost" label="Cost" value={cost(usage.cost)} note={`since ${dateTime(usage.since)}`} />
      )}
    </dl>
  );
}

function Charts({ usage, theme }: { usage: RuntimeUsage; theme: Theme }) {
  const [range, setRange] = useState<Range>('hour');
  const { history } = usage;
  const { times, series } = useMemo(() => {
    const timeline = timelineOf(history, range);
    return {
      times: timeline.times,
      series: {
        requests: [
          { label: 'requests', color: '--series-1', values: timeline.requests },
          { label: 'errors', color: '--bad', values: timeline.errors },
        ],
        tokens: [
          { label: 'prompt', color: '--series-2', values: timeline.promptTokens },
          { label: 'completion', color: '--series-3', values: timeline.completionTokens },
        ],
        latency: [{ label: 'average', color: '--series-4', values: timeline.latencyMs }],
      },
    };
  }, [history, range]);
  const each = range === 'hour' ? 'a minute' : 'in ten minutes';
  return (
    <section aria-label="Over time" class="stack">
      <div class="row spread">
        <h2 class="section-title">Over time</h2>
        <Segments label="Range" options={RANGES} value={range} onChange={setRange} />
      </div>
      <div class="columns">
        <Chart
          title={`Requests ${each}`}
          times={times}
          series={series.requests}
          format={count}
          empty="No requests in this time"
          theme={theme}
        />
        <Chart
          title={`Tokens ${each}`}
          times={times}
          series={series.tokens}
          format={count}
          empty="No tokens in this time"
          theme={theme}
        />
        <Chart
          title="Latency"
          times={times}
          series={series.latency}
          format={ms}
          empty="No answers in this time"
          theme={theme}
        />
      </div>
    </section>
  );
}

export function FinishReasons({ reasons }: { reasons: Record<string, number> }) {
  const parts = Object.entries(reasons).map(([label, value]) => ({ label, value }));
  if (parts.length === 0)
    return <Notice title="None yet">The reasons why answers ended appear with the first one.</Notice>;
  return <Split parts={parts} unit="answers" />;
}

function ActiveModels({ usage }: { usage: RuntimeUsage }) {
  const { activeModels, models } = usage;
  if (activeModels.length === 0) {
    return <Notice title="No model yet">Send a request, or try one on the tab AI-Link usage.</Notice>;
  }
  const calls = (model: string) =>
    models.filter((row) => row.model === model).reduce((sum, { requests }) => sum + requests, 0);
  return (
    <ul class="plain-list">
      {activeModels.slice(0, 8).map((model) => (
        <li key={model}>
          <code class="cut">{model}</code>
          <span class="numbers quiet">{plural(calls(model), 'request')}</span>
        </li>
      ))}
      {activeModels.length > 8 && <li class="quiet">and {activeModels.length - 8} more</li>}
    </ul>
  );
}

function ToolCalls({ runtime }: { runtime: Runtime }) {
  const servers = runtime.mcpConnections;
  if (servers.length === 0) {
    return <Notice title="No tool servers">Add one under mcp.servers in config.yaml.</Notice>;
  }
  const failed = ({ errors }: Runtime['mcpConnections'][number]) =>
    Object.values(errors).reduce((sum, number) => sum + number, 0);
  return (
    <ul class="plain-list">
      {servers.slice(0, 8).map((server) => (
        <li key={server.name}>
          <span class="cut">
            <span
              class={`dot small ${server.healthy ? 'good' : server.status === 'disconnected' ? 'wait' : 'bad'}`}
            />{' '}
            {server.name}
          </span>
          <span class="numbers quiet">
            {plural(server.invocations, 'call')}, {plural(failed(server), 'error')}
          </span>
        </li>
      ))}
      {servers.length > 8 && <li class="quiet">and {servers.length - 8} more</li>}
    </ul>
  );
}
