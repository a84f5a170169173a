import { LOG_TYPES, type LogType } from '../config/schema/logging.ts';

/** One part of a day's log of one type. */
export interface LogFile {
  type: LogType;
  /** UTC date, `YYYY-MM-DD`. */
  day: string;
  /** 0 for the first part of the day. */
  part: number;
}

/** `14d` keeps the records of 14 days, a plain number that many files of each type. */
export type Retention = { days: number } | { files: number };

const PATTERN = new RegExp(
  `^app-(${LOG_TYPES.join('|')})-(\\d{4}-\\d{2}-\\d{2})(?:\\.([1-9]\\d{0,5}))?\\.log$`,
);
const DAY_MS = 86_400_000;

/** UTC date of a time in milliseconds since the epoch. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** `app-<type>-YYYY-MM-DD.log`, further parts `app-<type>-YYYY-MM-DD.N.log` (spec §2.1, contract §2). */
export const fileName = ({ type, day, part }: LogFile): string =>
  `app-${type}-${day}${part === 0 ? '' : `.${part}`}.log`;

/** The log file that a name stands for; undefined for every other file. */
export function parseFileName(name: string): LogFile | undefined {
  const match = PATTERN.exec(name);
  if (match === null) return undefined;
  const [, type, day, part] = match as unknown as [string, LogType, string, string | undefined];
  if (Number.isNaN(Date.parse(day)) || dayOf(Date.parse(day)) !== day) return undefined;
  return { type, day, part: part === undefined ? 0 : Number(part) };
}

/** The part of a day to go on with: the last one there is. */
export function lastPart(names: readonly string[], type: LogType, day: string): number {
  let last = 0;
  for (const name of names) {
    const file = parseFileName(name);
    if (file?.type === type && file.day === day) last = Math.max(last, file.part);
  }
  return last;
}

export function parseRetention(maxFiles: string): Retention {
  const amount = Number.parseInt(maxFiles, 10);
  return maxFiles.endsWith('d') ? { days: amount } : { files: amount };
}

/**
 * The files that retention lets go of. By days: those whose every record is older. By number: all but the
 * newest of each type. Names that are not exactly ours are never among them.
 */
export function expired(names: readonly string[], retention: Retention, today: string): string[] {
  const files = names.flatMap((name) => {
    const file = parseFileName(name);
    return file === undefined ? [] : [{ name, ...file }];
  });
  if ('days' in retention) {
    const oldest = dayOf(Date.parse(today) - retention.days * DAY_MS);
    return files.filter((file) => file.day < oldest).map((file) => file.name);
  }
  const kept = Math.max(1, retention.files);
  return LOG_TYPES.flatMap((type) =>
    files
      .filter((file) => file.type === type)
      .sort((a, b) => (a.day === b.day ? b.part - a.part : a.day < b.day ? 1 : -1))
      .slice(kept)
      .map((file) => file.name),
  );
}
