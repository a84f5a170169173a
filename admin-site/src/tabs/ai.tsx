import { useState } from 'preact/hooks';
import type { RuntimeUsage, UsageRow } from '../../../lib/usage/usage.ts';
import type { TargetItem } from '../admin-api.ts';
import { cost, count, DASH, decimal, ms, percent } from '../format.ts';
import { ChatPlayground } from '../playground/chat.tsx';
import { Card, Segments, Stat } from '../ui/parts.tsx';
import { SaveJson } from '../ui/save-json.tsx';
import { Split } from '../ui/split.tsx';
import { Notice, NoUsage } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import type { Bearer } from '../use-bearer.ts';
import { FinishReasons } from './dashboard.tsx';

interface AiTabProps {
  usage: RuntimeUsage | null;
  targets: readonly TargetItem[];
  hub: string;
  bearer: Bearer;
  onUsed(): void;
}

export function AiTab({ usage, targets, hub, bearer, onUsed }: AiTabProps) {
  return (
    <div class="stack">
      {usage === null ? <NoUsage /> : <Usage usage={usage} />}
      <ChatPlayground hub={hub} targets={targets} bearer={bearer} onUsed={onUsed} />
    </div>
  );
}

function Usage({ usage }: { usage: RuntimeUsage }) {
  const { tokens, requests, latencyMs } = usage;
  return (
    <>
      <dl class="stat-grid">
        <Stat label="Requests" value={count(requests.total)} note={`${count(requests.success)} answered`} />
        <Stat label="Errors" value={count(requests.error)} note={percent(usage.errorRate)} />
        <Stat label="Streams" value={count(requests.streaming)} note={percent(usage.streamingRatio)} />
        <Stat
          label="Latency, average"
          value={ms(latencyMs.avg)}
          note={`${ms(latencyMs.min)} to ${ms(latencyMs.max)}`}
        />
      </dl>
      <Breakdown usage={usage} />
      <div class="columns">
        <Card title="Tokens">
          <Split
            unit="tokens"
            parts={[
              { label: 'prompt', value: tokens.prompt },
              { label: 'completion', value: tokens.completion },
            ]}
          />
          <p class="quiet small">
            Of these {count(tokens.cached)} cached, {count(tokens.reasoning)} reasoning,{' '}
            {count(tokens.estimated)} estimated.{usage.cost !== undefined && ` Cost: ${cost(usage.cost)}.`}
          </p>
        </Card>
        <Card title="Finish reasons">
          <FinishReasons reasons={usage.finishReasons} />
        </Card>
      </div>
      <Callers callers={usage.callers} />
    </>
  );
}

type Kind = 'models' | 'providers' | 'targets' | 'actions';
type NamedRow = UsageRow & { name: string; provider?: string };

const KINDS = [
  { value: 'models', text: 'Models' },
  { value: 'providers', text: 'Providers' },
  { value: 'targets', text: 'Targets' },
  { value: 'actions', text: 'Actions' },
] as const;

const SINGULAR: Record<Kind, string> = {
  models: 'Model',
  providers: 'Provider',
  targets: 'Target',
  actions: 'Action',
};

function Breakdown({ usage }: { usage: RuntimeUsage }) {
  const [kind, setKind] = useState<Kind>('models');
  const rows = rowsOf(usage, kind);
  return (
    <Card
      title={`By ${SINGULAR[kind].toLowerCase()}`}
      aside={
        <>
          <Segments label="Breakdown" options={KINDS} value={kind} onChange={setKind} />
          <SaveJson value={usage[kind]} name={kind} />
        </>
      }
    >
      <Table
        key={kind}
        label={`Usage by ${SINGULAR[kind].toLowerCase()}`}
        columns={columnsOf(kind)}
        rows={rows}
        keyOf={(row) => (kind === 'models' ? `${row.provider} ${row.name}` : row.name)}
        empty={
          <Notice title="No requests yet">Send one to /v1/chat/completions, or use the form below.</Notice>
        }
      />
    </Card>
  );
}

function rowsOf(usage: RuntimeUsage, kind: Kind): NamedRow[] {
  switch (kind) {
    case 'models':
      return usage.models.map((row) => ({ ...row, name: row.model }));
    case 'providers':
      return usage.providers.map((row) => ({ ...row, name: row.provider }));
    case 'targets':
      return usage.targets.map((row) => ({ ...row, name: row.target }));
    case 'actions':
      return usage.actions.map((row) => ({ ...row, name: row.action }));
  }
}

function columnsOf(kind: Kind): Column<NamedRow>[] {
  const provider: Column<NamedRow> = {
    title: 'Provider',
    show: (row) => row.provider ?? DASH,
    by: (row) => row.provider ?? null,
  };
  const number = (
    title: string,
    value: (row: NamedRow) => number | null,
    format: (value: never) => string,
  ) => ({
    title,
    isNumber: true,
    by: value,
    show: (row: NamedRow) => format(value(row) as never),
  });
  return [
    { title: SINGULAR[kind], show: (row) => <code>{row.name}</code>, by: (row) => row.name },
    ...(kind === 'models' ? [provider] : []),
    number('Requests', (row) => row.requests, count),
    number('Errors', (row) => row.errors, count),
    number('Prompt', (row) => row.promptTokens, count),
    number('Completion', (row) => row.completionTokens, count),
    number('Average', (row) => row.latencyMs.avg, ms),
    number('Min', (row) => row.latencyMs.min, ms),
    number('Max', (row) => row.latencyMs.max, ms),
    number('p50', (row) => row.latencyMs.p50, ms),
    number('p95', (row) => row.latencyMs.p95, ms),
    number('p99', (row) => row.latencyMs.p99, ms),
    number('First token p50', (row) => row.firstTokenMs.p50, ms),
    number('First token p95', (row) => row.firstTokenMs.p95, ms),
    number('Tokens/s', (row) => row.tokensPerSecond, decimal),
  ];
}

type Caller = RuntimeUsage['callers'][number];

const CALLER_COLUMNS: Column<Caller>[] = [
  { title: 'Caller', show: (row) => <code>{row.caller}</code>, by: (row) => row.caller },
  { title: 'Requests', isNumber: true, show: (row) => count(row.requests), by: (row) => row.requests },
  { title: 'Errors', isNumber: true, show: (row) => count(row.errors), by: (row) => row.errors },
  { title: 'Prompt', isNumber: true, show: (row) => count(row.promptTokens), by: (row) => row.promptTokens },
  {
    title: 'Completion',
    isNumber: true,
    show: (row) => count(row.completionTokens),
    by: (row) => row.completionTokens,
  },
];

function Callers({ callers }: { callers: readonly Caller[] }) {
  return (
    <Card title="Callers" aside={callers.length > 0 && <SaveJson value={callers} name="callers" />}>
      <Table
        label="Usage by caller"
        columns={CALLER_COLUMNS}
        rows={callers}
        keyOf={({ caller }) => caller}
        empty={<Notice title="Nobody yet">Callers appear with their first AI request.</Notice>}
      />
    </Card>
  );
}
