import { mkdirSync, mkdtempSync, rmdirSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LOG_TYPES, type LoggingConfig, type LogType } from '../config/schema/logging.ts';
import { parseSize } from '../config/size.ts';
import { createConsoleOutput, type LineOutput } from './console-output.ts';
import { createDailyFile } from './daily-file.ts';
import { isError } from './describe-error.ts';
import { parseRetention } from './file-names.ts';
import type { Logs } from './logger.ts';
import { createJsonMask, createMask } from './mask.ts';
import { createRecordWriter } from './record.ts';
import { createRecordLogger, silentLogger } from './record-logger.ts';
import type { RecordSink } from './relay.ts';

export interface LogsOptions {
  config: LoggingConfig;
  /** Texts cut out of every record by value. */
  secrets: readonly string[];
  /** Takes all records in place of console and files; the companion's is `createRelaySink()`. */
  sink?: RecordSink;
  /** Where the daily files are; default `logs` in the working directory. */
  directory?: string;
  /** Milliseconds since the epoch; default the system's clock. */
  now?: () => number;
  /** Milliseconds that a record may wait for others; default 20. 0 is for a platform that freezes processes. */
  flushAfterMs?: number;
  /** File descriptor of the console; default that of `process.stdout`. */
  consoleFd?: number;
  /** Milliseconds between two tries of an output that failed; default 5000. */
  retryAfterMs?: number;
}

/** The logs of a process that owns console and files. */
export interface ProcessLogs extends Logs {
  /** Takes a record that another process wrote (`parseRelayLine`): secrets are cut out of it already. */
  ingest(type: LogType, line: string): void;
  /** Records lost since the start, over all outputs. */
  lost(): number;
}

/**
 * Creates the logs of a process. Records are gathered for some milliseconds and written together; the rest is
 * written when the process exits, by whatever way but a kill.
 * @throws Error naming the log directory, when a type writes files and the directory cannot be written.
 */
export function createLogs(options: LogsOptions): ProcessLogs {
  const { config, secrets, now = Date.now, flushAfterMs = 20, retryAfterMs = 5000 } = options;
  const directory = options.directory ?? 'logs';
  const maskJson = createJsonMask(secrets);
  const write = createRecordWriter({ now, mask: createMask(secrets), maskJson });

  const ownOutputs: LineOutput[] = [];
  const emitters = new Map<LogType, (line: string) => void>();

  if (options.sink !== undefined) {
    const { sink } = options;
    for (const type of LOG_TYPES) {
      const { enabled, console, file } = config.types[type];
      if (enabled && (console || file)) emitters.set(type, (line) => sink.write(type, line));
    }
  } else {
    if (LOG_TYPES.some((type) => config.types[type].enabled && config.types[type].file)) {
      checkDirectory(directory);
    }
    const terminal = createConsoleOutput({
      fd: options.consoleFd ?? standardOutput(),
      now,
      flushAfterMs,
      report: warnOnStderr,
      retryAfterMs,
    });
    ownOutputs.push(terminal);
    const report = (message: string): void => terminal.append(write('warn', 'logging', message));
    for (const type of LOG_TYPES) {
      const { enabled, console, file } = config.types[type];
      if (!enabled || !(console || file)) continue;
      const outputs: LineOutput[] = console ? [terminal] : [];
      if (file) {
        const daily = createDailyFile({
          directory: resolve(directory),
          type,
          maxBytes: config.fileRotation ? parseSize(config.maxFileSize) : undefined,
          retention: parseRetention(config.maxFiles),
          now,
          flushAfterMs: Math.max(1, flushAfterMs),
          report,
          retryAfterMs,
        });
        outputs.push(daily);
        // Before the console, which takes their last warnings.
        ownOutputs.unshift(daily);
      }
      const [first, second] = outputs;
      emitters.set(type, (line) => {
        first?.append(line);
        second?.append(line);
      });
    }
  }

  const flushSync = (): void => {
    options.sink?.flushSync();
    for (const output of ownOutputs) output.flushSync();
  };
  process.on('exit', flushSync);

  return {
    logger(type, module) {
      const emit = emitters.get(type);
      if (emit === undefined) return silentLogger;
      return createRecordLogger({ level: config.types[type].level, module, write, emit });
    },
    ingest(type, line) {
      emitters.get(type)?.(line);
    },
    async close() {
      for (const output of ownOutputs) await output.close();
      await options.sink?.close();
      process.off('exit', flushSync);
    },
    lost: () => ownOutputs.reduce((sum, output) => sum + output.lost(), 0),
  };
}

/** Node makes a pipe non-blocking when it opens `process.stdout`; its own failures (EPIPE) end nothing here. */
function standardOutput(): number {
  process.stdout.on('error', () => {});
  return process.stdout.fd;
}

function warnOnStderr(message: string): void {
  try {
    writeSync(2, `${message}\n`);
  } catch {
    // Nobody is left to be told.
  }
}

/** Tries the directory by writing to it: permissions alone do not tell of a read-only or full disk. */
function checkDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o750 });
    rmdirSync(mkdtempSync(join(directory, '.check-')));
  } catch (error) {
    const reason = isError(error) ? error.message : String(error);
    throw new Error(`The log directory ${directory} cannot be written: ${reason}`, { cause: error });
  }
}
