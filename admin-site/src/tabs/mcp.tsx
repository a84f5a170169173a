import { useState } from 'preact/hooks';
import type { CompanionStatus } from '../../../lib/companion-client/protocol.ts';
import type { ServerStats } from '../../../lib/mcp/tool-server.ts';
import { count } from '../format.ts';
import { ToolPlayground } from '../playground/tool.tsx';
import { Card, Stat } from '../ui/parts.tsx';
import { SaveJson } from '../ui/save-json.tsx';
import { Notice } from '../ui/states.tsx';
import type { Bearer } from '../use-bearer.ts';
import { ToolServer } from './tool-server.tsx';

interface McpTabProps {
  servers: readonly ServerStats[];
  companion: CompanionStatus;
  hub: string;
  bearer: Bearer;
  onUsed(): void;
}

/** So many servers are shown whole at once. */
const FEW = 2;

const failures = ({ errors }: ServerStats): number =>
  Object.values(errors).reduce((total, number) => total + number, 0);
const sum = (servers: readonly ServerStats[], of: (server: ServerStats) => number): number =>
  servers.reduce((total, server) => total + of(server), 0);

/** The servers that are not connected, by state. */
function statesOf(servers: readonly ServerStats[]): string {
  const states = servers.filter(({ healthy }) => !healthy).map(({ status }) => status);
  const numbers = [...new Set(states)].map(
    (state) => `${states.filter((other) => other === state).length} ${state}`,
  );
  return numbers.length === 0 ? 'all of them' : numbers.join(' · ');
}

export function McpTab({ servers, companion, hub, bearer, onUsed }: McpTabProps) {
  const [tryServer, setTryServer] = useState<string>();
  if (companion.status === 'down') {
    return (
      <Notice title="No tool servers while AI-Link is down" tone="bad">
        The connections live in AI-Link. They are made again when it is back.
      </Notice>
    );
  }
  if (servers.length === 0) {
    return (
      <Card title="Tool servers">
        <Notice title="No tool servers are configured">
          Add one under mcp.servers in config.yaml, or an HTTP tool under tools.
        </Notice>
      </Card>
    );
  }
  const connected = servers.filter(({ healthy }) => healthy).length;
  return (
    <div class="stack">
      <dl class="stat-grid">
        <Stat
          id="mcp-connected"
          label="Connected"
          value={`${connected} of ${servers.length}`}
          note={statesOf(servers)}
        />
        <Stat id="mcp-tools" label="Tools" value={count(sum(servers, ({ tools }) => tools.length))} />
        <Stat
          id="mcp-invocations"
          label="Calls"
          value={count(sum(servers, ({ invocations }) => invocations))}
          note={`${count(sum(servers, ({ inFlight }) => inFlight))} in flight · ${count(sum(servers, ({ queued }) => queued))} waiting`}
        />
        <Stat id="mcp-errors" label="Errors" value={count(sum(servers, failures))} />
      </dl>
      <div class="row spread">
        <h2 class="section-title">Tool servers</h2>
        <SaveJson value={servers} name="mcp-connections" />
      </div>
      {servers.map((server) => (
        <ToolServer
          key={server.name}
          server={server}
          isOpen={servers.length <= FEW}
          onTry={() => setTryServer(server.name)}
        />
      ))}
      <ToolPlayground hub={hub} bearer={bearer} servers={servers} wanted={tryServer} onUsed={onUsed} />
    </div>
  );
}
