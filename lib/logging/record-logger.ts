import { Logger as PowertoolsLogger } from '@aws-lambda-powertools/logger';
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

/**
 * Powertools' logger decides what is logged (level, Lambda's own log level, sampling); how a record is written
 * and where it goes are ours. Its log item, JSON replacer, console and look at the environment for a trace id
 * cost 6 µs a record, twice a request.
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

  protected override processLogItem(level: number, message: string, extra: readonly unknown[]): void {
    // The parent's constructor has remarks of its own about the environment, before there is anything to write with.
    if (!(#emit in this)) return;
    this.#emit(this.#write(nameOfLevel(level), this.#module, message, extra[0] as LogFields | undefined));
  }

  /** Nothing but the constructor's remarks comes this way. */
  protected override printLog(): void {}
}

export interface RecordLoggerDeps {
  level: LogLevel;
  module: string;
  write: RecordWriter;
  /** Takes one line of JSON without its line end. Does not throw. */
  emit: (line: string) => void;
}

const NO_FIELDS: LogFields = {};

/** Creates the logger of one module for one log type. Its methods never throw. */
export function createRecordLogger({ level, module, write, emit }: RecordLoggerDeps): Logger {
  const powertools = new RecordLogger(level, module, write, emit);
  // Asked once: it looks at the environment each time, and changes only by a call that nobody makes.
  const threshold = powertools.level;
  // A log call stands in the middle of a request: a field whose getter throws may cost the record, not the request.
  const safely = (name: LogLevel): Logger['info'] => {
    if (THRESHOLDS[name] < threshold) return () => {};
    return (message, fields = NO_FIELDS) => {
      try {
        powertools[name](message, fields);
      } catch {
        emit(write('warn', module, 'A log record could not be written'));
      }
    };
  };
  return {
    debug: safely('debug'),
    info: safely('info'),
    warn: safely('warn'),
    error: safely('error'),
    enabled: (asked) => THRESHOLDS[asked] >= threshold,
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
