import type { LogLevel, LogType } from '../config/schema/logging.ts';

/** Further fields of a record, e.g. `requestId`, `target`. Never a secret, never a query string. */
export type LogFields = Record<string, unknown>;

/** Writes records of one log type for one module. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Whether a record of this level would be written: ask before building costly fields. */
  enabled(level: LogLevel): boolean;
}

/** All log types of one process. */
export interface Logs {
  /** The logger of one type for one module; create it once at start, not per request. */
  logger(type: LogType, module: string): Logger;
  /** Writes out what is buffered and closes the files. Never rejects. */
  close(): Promise<void>;
}
