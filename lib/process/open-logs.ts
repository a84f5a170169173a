import { createLogs, type LogsOptions, type ProcessLogs } from '../logging/create-logs.ts';
import { StartFault } from './start-fault.ts';

/**
 * Opens the logs of a process and makes a failure that nobody caught their last record before exit 1.
 * @throws StartFault naming the log directory when it cannot be written.
 */
export function openLogs(options: LogsOptions): ProcessLogs {
  const logs = tryCreate(options);
  const logger = logs.logger('error', 'process');
  process.on('uncaughtException', (error) => {
    logger.error('An unexpected failure ends this process', { error });
    process.exit(1);
  });
  return logs;
}

function tryCreate(options: LogsOptions): ProcessLogs {
  try {
    return createLogs(options);
  } catch (error) {
    throw new StartFault(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
