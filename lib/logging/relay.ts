import { LOG_TYPES, type LogType } from '../config/schema/logging.ts';
import { createConsoleOutput } from './console-output.ts';

/** Where records go in place of console and files. */
export interface RecordSink {
  /** Takes one record: a line of JSON without its line end. Never blocks, never throws. */
  write(type: LogType, line: string): void;
  /** Hands on what is left, at exit. */
  flushSync(): void;
  close(): Promise<void>;
}

const TYPES: ReadonlySet<string> = new Set(LOG_TYPES);

/**
 * The sink of a companion that a gateway spawned: `<type>\t<json>\n` on its standard output, because one
 * process owns the log files (contract §2). The gateway reads it by `parseRelayLine` and `ingest`.
 */
export function createRelaySink(fd: number = process.stdout.fd): RecordSink {
  const output = createConsoleOutput({
    fd,
    now: Date.now,
    flushAfterMs: 10,
    report: (message) => process.stderr.write(`${message}\n`),
    retryAfterMs: 5000,
  });
  return {
    write: (type, line) => output.append(`${type}\t${line}`),
    flushSync: output.flushSync,
    close: output.close,
  };
}

/** Takes a line of the relay apart; undefined when it is none, such as a stray text of a library. */
export function parseRelayLine(text: string): { type: LogType; line: string } | undefined {
  const tab = text.indexOf('\t');
  const type = text.slice(0, tab);
  if (tab <= 0 || !TYPES.has(type) || text[tab + 1] !== '{' || !text.endsWith('}')) return undefined;
  return { type: type as LogType, line: text.slice(tab + 1) };
}
