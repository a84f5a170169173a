import type { Logger } from '../logging/logger.ts';
import type { CompanionHealth, CompanionStatus } from './protocol.ts';

export interface ProbedStatus {
  status(): CompanionStatus;
  answered(health: CompanionHealth): void;
  failed(error: unknown): void;
}

/** State of a companion that runs elsewhere, as far as probes have told. */
export function createProbedStatus(deps: {
  configHash?: string | undefined;
  logger?: Logger | undefined;
}): ProbedStatus {
  const { configHash, logger } = deps;
  let current: CompanionStatus = {
    status: 'starting',
    pid: null,
    restarts: 0,
    since: new Date().toISOString(),
    nextRetryAt: null,
  };
  let lastPid: number | null = null;
  let tokenComplained = false;

  function enter(status: 'up' | 'down', pid: number | null): void {
    if (current.status === status && current.pid === pid) return;
    // Another process behind the same address: it was started anew.
    const restarted = pid !== null && lastPid !== null && pid !== lastPid;
    lastPid = pid ?? lastPid;
    current = {
      ...current,
      status,
      pid,
      restarts: current.restarts + (restarted ? 1 : 0),
      since: new Date().toISOString(),
    };
  }

  function answered(health: CompanionHealth): void {
    if (!health.authorized) {
      if (!tokenComplained) logger?.error('AI-Link refuses this AILINK_TOKEN');
      tokenComplained = true;
      enter('down', null);
      return;
    }
    tokenComplained = false;
    enter('up', health.pid);
    const mismatch = configHash !== undefined && health.configHash !== configHash;
    if (mismatch && current.configMismatch !== true) {
      logger?.warn('AI-Link runs with another configuration than this gateway', {
        gateway: configHash.slice(0, 12),
        companion: health.configHash.slice(0, 12),
      });
    }
    if (configHash !== undefined) current = { ...current, configMismatch: mismatch };
  }

  function failed(error: unknown): void {
    if (current.status === 'up') logger?.error('AI-Link does not answer', { cause: String(error) });
    enter('down', null);
  }

  return { status: () => current, answered, failed };
}
