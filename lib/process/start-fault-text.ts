import { ConfigError } from '../config/faults.ts';
import { StartFault } from './start-fault.ts';

/** What the standard error shows when a process cannot start: plain lines for the operator, a stack only for a bug. */
export function startFaultText(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartFault) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
