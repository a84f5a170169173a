import { LogItem, Logger as PowertoolsLogger } from '@aws-lambda-powertools/logger';
import type { LogLevel } from '../config/schema/logging.ts';
import type { LogFields, Logger } from './logger.ts';
import type { RecordWriter } from './record.ts';

/** Thresholds of powertools' logger by the names that this configuration knows. */
const THRESHOLDS: Readonly<Record<LogLevel, number>> = { debug: 8, info: 12, warn: 16, error: 20 };

const nameOfLevel = (threshold: number): LogLevel =>
  threshold >= THRESHOLDS.error
    ? 'error'
    : threshold >= THRESHOLDS.warn
      ? 'warn'
      : threshold >= THRESHOLDS.info
        ? 'info'
        : 'debug';

/** A record that is written already, in the form in which powertools passes it on. */
class WrittenItem extends LogItem {
  readonly line: string;

  constructor(line: string) {
    super({ attributes: {} });
    this.line = line;
  }
}

/**
 * Powertools' logger decides what is logged (level, Lambda's own log level, sampling); how a record is written
 * and where it goes are ours: its formatter, JSON replacer and console cost 6 µs a record, these 1.
 */
class RecordLogger extends PowertoolsLogger {
  readonly #module: string;
  readonly #write: RecordWriter;
  readonly #emit: (line: string) => void;

  constructor(level: LogLevel, module: string, write: RecordWriter, emit: (line: string) => void) {
    super({ serviceName: 'hub', logLevel: level.toUpperCase() as Uppercase<LogLevel> });
    this.#module = module;
    this.#write = write;
    this.#emit = emit;
  }

  protected override createAndPopulateLogItem(
    level: number,
    message: string,
    extra: readonly unknown[],
  ): LogItem {
    return new WrittenItem(
      this.#write(nameOfLevel(level), this.#module, message, extra[0] as LogFields | undefined),
    );
  }

  protected override printLog(_level: number, item: LogItem): void {
    if (item instanceof WrittenItem) this.#emit(item.line);
  }
}

export interface RecordLoggerDeps {
  level: LogLevel;
  module: string;
  write: RecordWriter;
  /** Takes one line of JSON without its line end. Does not throw. */
  emit: (line: string) => void;
}

/** Creates the logger of one module for one log type. Its methods never throw. */
export function createRecordLogger({ level, module, write, emit }: RecordLoggerDeps): Logger {
  const powertools = new RecordLogger(level, module, write, emit);
  // A log call stands in the middle of a request: a field whose getter throws may cost the record, not the request.
  const safely = (log: () => void): void => {
    try {
      log();
    } catch {
      emit(write('warn', module, 'A log record could not be written'));
    }
  };
  return {
    debug: (message, fields = {}) => safely(() => powertools.debug(message, fields)),
    info: (message, fields = {}) => safely(() => powertools.info(message, fields)),
    warn: (message, fields = {}) => safely(() => powertools.warn(message, fields)),
    error: (message, fields = {}) => safely(() => powertools.error(message, fields)),
    enabled: (asked) => THRESHOLDS[asked] >= powertools.level,
  };
}

/** The logger of a type that is switched off. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  enabled: () => false,
};
