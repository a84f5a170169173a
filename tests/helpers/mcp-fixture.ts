import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { McpServerConfig } from '../../lib/config/schema/tools.ts';

const SCRIPT = fileURLToPath(new URL('./mcp-stdio-fixture.mjs', import.meta.url));

/** The misbehaving tool server in the given modes. */
export function fixture(
  modes: readonly string[] = [],
  more: Partial<McpServerConfig> = {},
): Partial<McpServerConfig> {
  return { name: 'test', transport: 'stdio', command: 'node', args: [SCRIPT, ...modes], ...more };
}

/** Whether a process runs; a zombie has ended. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}

/** Short times, so that healing is seen within a test. */
export const QUICK = {
  backoffBaseMs: 20,
  backoffCapMs: 200,
  probeEveryMs: 100,
  crashWindowMs: 5_000,
  crashRetryMs: 1_500,
  retryPatienceMs: 100,
  killAfterMs: 100,
  resumeAfterMs: 20,
  standbyBaseMs: 20,
  standbyCapMs: 200,
  farewellMs: 200,
} as const;

/** Times by which a silent server is found out; apart, because a busy machine may miss them too. */
export const QUICK_PINGS = { ...QUICK, pingEveryMs: 100, pingBudgetMs: 150, socketPingMs: 150 } as const;
