import type { CallFailure, Runtime } from './admin-api.ts';
import { clock, percent, plural } from './format.ts';
import type { TabId } from './tab-ids.ts';

/** Something an operator should look at. */
export interface Problem {
  severity: 'bad' | 'warn';
  text: string;
  /** Where more is to be seen. */
  tab?: TabId;
}

/** Below so many calls, a share of errors says little. */
const ENOUGH_CALLS = 5;
const HIGH_ERROR_RATE = 0.1;

/** What is wrong, the worst first. Empty means that all is well. */
export function findProblems(runtime: Runtime | undefined, failure: CallFailure | undefined): Problem[] {
  const found: Problem[] = [];
  if (failure !== undefined) found.push({ severity: 'bad', text: failure.message });
  if (runtime === undefined) return found;
  found.push(...ofCompanion(runtime), ...ofServers(runtime), ...ofCalls(runtime));
  return found.sort((a, b) => Number(a.severity === 'warn') - Number(b.severity === 'warn'));
}

function ofCompanion({ companion }: Runtime): Problem[] {
  const { status, nextRetryAt, configMismatch } = companion;
  if (status === 'down') {
    const next = nextRetryAt === null ? '' : `; next start at ${clock(nextRetryAt)}`;
    return [
      { severity: 'bad', text: `AI-Link is down since ${clock(companion.since)}${next}`, tab: 'system' },
    ];
  }
  if (status === 'starting') return [{ severity: 'warn', text: 'AI-Link is starting', tab: 'system' }];
  if (!configMismatch) return [];
  return [{ severity: 'warn', text: 'AI-Link runs another configuration than the gateway', tab: 'system' }];
}

function ofServers({ mcpConnections }: Runtime): Problem[] {
  return mcpConnections.flatMap(({ name, status, crashLoop }): Problem[] => {
    const tab = 'mcp';
    if (crashLoop) return [{ severity: 'bad', text: `Tool server ${name} keeps crashing`, tab }];
    if (status === 'error')
      return [{ severity: 'bad', text: `Tool server ${name} cannot be started or reached`, tab }];
    if (status === 'backoff')
      return [{ severity: 'bad', text: `Tool server ${name} is down and is retried`, tab }];
    if (status === 'degraded') return [{ severity: 'warn', text: `Tool server ${name} misses pings`, tab }];
    return [];
  });
}

function ofCalls({ runtimeUsage }: Runtime): Problem[] {
  if (runtimeUsage === null) return [];
  const { errorRate, requests, proxies } = runtimeUsage;
  const found: Problem[] = [];
  if (requests.total >= ENOUGH_CALLS && errorRate >= HIGH_ERROR_RATE) {
    const text = `${percent(errorRate)} of the AI requests failed (${plural(requests.error, 'error')})`;
    found.push({ severity: 'warn', text, tab: 'ai' });
  }
  for (const { id, requests: all, errors } of proxies) {
    if (all < ENOUGH_CALLS || errors / all < HIGH_ERROR_RATE) continue;
    found.push({
      severity: 'warn',
      text: `Proxy ${id} failed ${percent(errors / all)} of its requests`,
      tab: 'proxies',
    });
  }
  return found;
}
