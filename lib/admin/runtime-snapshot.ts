import { hostname } from 'node:os';
import type { CompanionClient } from '../companion-client/companion-client.ts';
import { type CompanionStatus, INTERNAL_PATHS } from '../companion-client/protocol.ts';
import type { RuntimeUsage } from '../usage/usage.ts';
import type { ConfigurationSummary } from './configuration-summary.ts';

/** The process that answers: the gateway, or one of the handlers (spec §2.10). */
export interface ProcessFacts {
  pid: number;
  hostname: string;
  nodeVersion: string;
  uptimeSeconds: number;
  platform: string;
  /** Mebibytes. */
  memoryMb: { rss: number; heapUsed: number; heapTotal: number; external: number };
}

/** Body of `GET /admin/runtime` (contract §8). */
export interface RuntimeSnapshot {
  process: ProcessFacts;
  configurationSummary: ConfigurationSummary;
  /** Null while the companion is down. */
  runtimeUsage: RuntimeUsage | null;
  mcpConnections: readonly unknown[];
  companion: CompanionStatus;
}

/** What the companion answers at `INTERNAL_PATHS.runtime`. */
interface CompanionRuntime {
  runtimeUsage: RuntimeUsage;
  mcpConnections: readonly unknown[];
}

export function processFacts(): ProcessFacts {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const mb = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  return {
    pid: process.pid,
    hostname: hostname(),
    nodeVersion: process.version,
    uptimeSeconds: Math.floor(process.uptime()),
    platform: process.platform,
    memoryMb: { rss: mb(rss), heapUsed: mb(heapUsed), heapTotal: mb(heapTotal), external: mb(external) },
  };
}

/**
 * Puts `/admin/runtime` together. A companion that does not answer, for whatever reason, is shown as down, and
 * the rest all the same: this is the page on which an operator looks what is wrong.
 */
export async function runtimeSnapshot(
  companion: Pick<CompanionClient, 'call' | 'status'>,
  configurationSummary: ConfigurationSummary,
  call: { requestId: string; signal: AbortSignal },
): Promise<RuntimeSnapshot> {
  const runtime = await companion
    .call<CompanionRuntime>({ method: 'GET', path: INTERNAL_PATHS.runtime, ...call })
    .catch(() => undefined);
  const status = companion.status();
  return {
    process: processFacts(),
    configurationSummary,
    runtimeUsage: runtime?.runtimeUsage ?? null,
    mcpConnections: runtime?.mcpConnections ?? [],
    companion: runtime === undefined ? { ...status, status: 'down', pid: null } : seen(status),
  };
}

/** A companion that has just answered is up, whatever was known of it before. */
const seen = (status: CompanionStatus): CompanionStatus =>
  status.status === 'starting' ? { ...status, status: 'up' } : status;
