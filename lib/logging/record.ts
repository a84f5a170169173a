import type { LogLevel } from '../config/schema/logging.ts';
import { cut, describeError, isError } from './describe-error.ts';
import type { LogFields } from './logger.ts';

/** A longer text of one field is cut. */
const LONGEST_TEXT = 16_384;
/** Longer JSON of one field is shown as the text of its beginning; an error with its causes fits. */
const LONGEST_STRUCTURE = 32_768;

/** A field may not stand in for what the logger itself says. */
const RESERVED = new Set(['level', 'timestamp', 'module', 'message']);

/** Line separators and control characters that JSON lets through but a terminal or a viewer acts upon. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g;

/** A text that JSON writes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

const escaped = (json: string): string =>
  json.replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Writes one record as a line of JSON, without the line end. */
export type RecordWriter = (level: LogLevel, module: string, message: string, fields?: LogFields) => string;

export interface RecordWriterDeps {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Cuts secrets out of a text (`createMask`). */
  mask: (text: string) => string;
  /** Cuts secrets out of a JSON text (`createJsonMask`). */
  maskJson: (json: string) => string;
}

/**
 * Creates the writer of records: `{level, timestamp, module, message, …fields}`. Everything that the same
 * module writes again and again (names, the timestamp within a millisecond) is put together once.
 */
export function createRecordWriter(deps: RecordWriterDeps): RecordWriter {
  const { now, mask, maskJson } = deps;
  let lastTime = Number.NaN;
  let lastStamp = '';
  const timestamp = (): string => {
    const time = now();
    if (time !== lastTime) {
      lastTime = time;
      lastStamp = new Date(time).toISOString();
    }
    return lastStamp;
  };

  const names = new Map<string, string>();
  const fieldName = (name: string): string => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const written = `,${text(cut(mask(name), 128))}:`;
    if (names.size < 1000) names.set(name, written);
    return written;
  };

  // Each value is masked by itself: most are shorter than any secret, which is seen at a glance.
  const text = (value: string): string => {
    const masked = value.length <= LONGEST_TEXT ? mask(value) : cut(mask(value), LONGEST_TEXT);
    return PLAIN.test(masked) ? `"${masked}"` : escaped(JSON.stringify(masked));
  };

  // Looks at the value itself, not at its toJSON(): vendors' errors put their requests, keys included, in there.
  function replaceInner(this: Record<string, unknown>, name: string, given: unknown): unknown {
    const original = this[name];
    if (isError(original)) return describeError(original, mask);
    return typeof given === 'bigint' ? String(given) : given;
  }

  const structure = (value: object): string => {
    try {
      const json = JSON.stringify(isError(value) ? describeError(value, mask) : value, replaceInner);
      return json === undefined
        ? 'null'
        : json.length <= LONGEST_STRUCTURE
          ? escaped(maskJson(json))
          : text(json);
    } catch {
      return '"[not serialisable]"';
    }
  };

  const fieldValue = (value: unknown): string | undefined => {
    switch (typeof value) {
      case 'string':
        return text(value);
      case 'number':
        return Number.isFinite(value) ? maskJson(String(value)) : 'null';
      case 'boolean':
        return value ? 'true' : 'false';
      case 'object':
        return value === null ? 'null' : structure(value);
      case 'bigint':
        return `"${value}"`;
      default:
        return undefined;
    }
  };

  return (level, module, message, fields) => {
    let line = `{"level":"${level}","timestamp":"${timestamp()}"${fieldName('module')}${text(module)},"message":${text(message)}`;
    for (const name in fields) {
      if (RESERVED.has(name)) continue;
      const value = fieldValue(fields[name]);
      if (value !== undefined) line += fieldName(name) + value;
    }
    return `${line}}`;
  };
}
