import type { InternalResponse, InternalRoute } from '../companion-client/internal-route.ts';
import { INTERNAL_PATHS } from '../companion-client/protocol.ts';
import { HubError } from '../errors/hub-error.ts';
import { parseJson, readBody } from '../http/body.ts';
import type { CountersWithSeries } from './counters.ts';
import { type McpServerFacts, renderMetrics } from './metrics.ts';
import type { ProxyCounts } from './usage.ts';

export interface UsageRoutesDeps {
  counters: CountersWithSeries;
  mcp: {
    /** Connection facts of all tool servers: the rows of `GET /mcp/stats`. */
    connections(): readonly McpServerFacts[];
    /** Clears the counters of tools and servers. */
    reset(): void;
  };
}

/** Largest hand-over of proxy counts, in bytes: some thousand latencies. */
const MOST_BYTES = 8 * 1024 * 1024;

/** The companion's routes of usage and runtime (`INTERNAL_PATHS`): all answer JSON, metrics a Prometheus text. */
export function createUsageRoutes({ counters, mcp }: UsageRoutesDeps): InternalRoute[] {
  const batches = createBatchMemory();
  return [
    {
      method: 'GET',
      path: INTERNAL_PATHS.runtime,
      handle: (_request, response) =>
        answer(response, { runtimeUsage: counters.snapshot(), mcpConnections: mcp.connections() }),
    },
    {
      method: 'GET',
      path: INTERNAL_PATHS.usage,
      handle: (_request, response) => answer(response, counters.snapshot()),
    },
    {
      method: 'POST',
      path: INTERNAL_PATHS.reset,
      handle(_request, response) {
        counters.reset();
        mcp.reset();
        answer(response, { success: true });
      },
    },
    {
      method: 'POST',
      path: INTERNAL_PATHS.proxyCounts,
      async handle(request, response) {
        const handOver = checked(parseJson(await readBody(request, { limit: MOST_BYTES })));
        if (batches.isNew(handOver)) counters.addProxyCounts(handOver.counts);
        answer(response, { success: true });
      },
    },
    {
      method: 'GET',
      path: INTERNAL_PATHS.metrics,
      handle(_request, response) {
        const text = renderMetrics(counters.snapshot(), counters.series(), mcp.connections());
        send(response, 'text/plain; version=0.0.4; charset=utf-8', text);
      },
    },
  ];
}

const answer = (response: InternalResponse, body: unknown): void =>
  send(response, 'application/json; charset=utf-8', JSON.stringify(body));

function send(response: InternalResponse, type: string, text: string): void {
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function isProxyCounts(value: unknown): value is ProxyCounts {
  if (typeof value !== 'object' || value === null) return false;
  const { id, requests, errors, statuses, latenciesMs } = value as Partial<ProxyCounts>;
  return (
    typeof id === 'string' &&
    isCount(requests) &&
    isCount(errors) &&
    typeof statuses === 'object' &&
    statuses !== null &&
    Object.values(statuses).every(isCount) &&
    Array.isArray(latenciesMs) &&
    latenciesMs.every((ms) => Number.isFinite(ms) && ms >= 0)
  );
}

/** What a gateway hands over: its name, a number that grows, and the counts. */
interface HandOver {
  from: string;
  batch: number;
  counts: ProxyCounts[];
}

/** A malformed hand-over is refused whole: half of it would make sums disagree. */
function checked(body: unknown): HandOver {
  const { from, batch, counts } = (body ?? {}) as Partial<HandOver>;
  const isNamed = typeof from === 'string' && isCount(batch);
  if (isNamed && Array.isArray(counts) && counts.every(isProxyCounts)) return { from, batch, counts };
  throw new HubError('invalid_request', 'The counts are malformed');
}

const MOST_GATEWAYS = 1000;

/** Remembers the last hand-over of each gateway: one whose answer was lost comes again, and counts once. */
function createBatchMemory(): { isNew(handOver: HandOver): boolean } {
  const last = new Map<string, number>();
  return {
    isNew({ from, batch }) {
      if (batch <= (last.get(from) ?? 0)) return false;
      last.delete(from);
      last.set(from, batch);
      if (last.size > MOST_GATEWAYS) {
        const oldest = last.keys().next();
        if (!oldest.done) last.delete(oldest.value);
      }
      return true;
    },
  };
}
