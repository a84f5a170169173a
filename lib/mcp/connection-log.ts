import type { Logger } from '../logging/logger.ts';
import type { ConnectionState } from './connection-state.ts';
import type { LastError } from './failure.ts';
import { operatorHint } from './operator-hints.ts';

/** Writes the record of a change of status: a server that is down says why, and what an operator can do. */
export function logStatusChange(
  log: Logger,
  server: string,
  before: ConnectionState,
  state: ConnectionState,
  lastError: LastError | null,
): void {
  const fields = { server, from: before.status, to: state.status };
  if (state.status === 'backoff' || state.status === 'error') {
    log.warn('Tool server is down', {
      ...fields,
      code: lastError?.code,
      reason: lastError?.message,
      action: operatorHint(lastError?.code ?? ''),
      nextRetryAt: isoOrNull(state.nextRetryAt),
      crashLoop: state.crashLoop,
    });
  } else if (state.status === 'closing' || before.status === 'closing') {
    log.debug('Tool server is ended', fields);
  } else {
    log.info('Tool server changed state', fields);
  }
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
