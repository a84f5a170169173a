import type { Runtime } from '../admin-api.ts';
import { clock, count, dateTime, duration } from '../format.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Badge, Card, Facts } from '../ui/parts.tsx';
import { SaveJson } from '../ui/save-json.tsx';
import { NoUsage } from '../ui/states.tsx';

export function SystemTab({ runtime }: { runtime: Runtime }) {
  const { process, companion, runtimeUsage } = runtime;
  const { memoryMb } = process;
  const tone = companion.status === 'up' ? 'good' : companion.status === 'down' ? 'bad' : 'wait';
  return (
    <div class="stack">
      <div class="columns">
        <Card title="Process" aside={<SaveJson value={runtime} name="runtime" />}>
          <Facts
            rows={[
              ['Runtime', `Node.js ${process.nodeVersion}`],
              ['Platform', process.platform],
              ['Host', process.hostname],
              ['Process id', String(process.pid)],
              ['Uptime', daysHoursMinutes(process.uptimeSeconds)],
            ]}
          />
        </Card>
        <Card title="Memory of the gateway">
          <Facts
            rows={[
              ['Resident (rss)', `${count(memoryMb.rss)} MB`],
              ['Heap used', `${count(memoryMb.heapUsed)} MB`],
              ['Heap total', `${count(memoryMb.heapTotal)} MB`],
              ['External', `${count(memoryMb.external)} MB`],
            ]}
          />
          <meter
            class="meter"
            min={0}
            max={memoryMb.heapTotal}
            value={memoryMb.heapUsed}
            aria-label="Heap used of heap total"
          />
        </Card>
        <Card title="AI-Link" aside={<Badge tone={tone}>{companion.status}</Badge>}>
          <Facts
            rows={[
              ['Process id', companion.pid === null ? '–' : String(companion.pid)],
              ['Since', dateTime(companion.since)],
              ['Restarts', count(companion.restarts)],
              ['Next start', companion.nextRetryAt === null ? '–' : clock(companion.nextRetryAt)],
              ['Configuration', companion.configMismatch ? 'differs from the gateway’s' : 'the same'],
            ]}
          />
        </Card>
      </div>
      <Card title="Raw usage" aside={runtimeUsage !== null && <SaveJson value={runtimeUsage} name="usage" />}>
        {runtimeUsage === null ? (
          <NoUsage />
        ) : (
          <>
            <p class="quiet small">
              Counting since {dateTime(runtimeUsage.since)}, for {duration(runtimeUsage.uptimeSeconds)}.
            </p>
            <JsonTree value={runtimeUsage} name="runtimeUsage" openTo={1} />
          </>
        )}
      </Card>
    </div>
  );
}

/** Days, hours and minutes, all three (spec §4.5). */
function daysHoursMinutes(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  return `${days} d ${hours} h ${Math.floor((seconds % 3600) / 60)} min`;
}
