import { HubError } from '../../errors/hub-error.ts';

/** Where one member of a JSON object lies in its bytes. Ends are exclusive; a key includes its quotes. */
export interface MemberSpan {
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
}

/** The members that were looked for, and where a further one can be put in. */
export interface FoundMembers<N extends string> {
  spans: { [name in N]?: MemberSpan };
  /** Index behind the opening brace. */
  open: number;
  isEmpty: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
/** Strings up to this length are walked in JavaScript, longer ones by native search. */
const SHORT_STRING = 48;

/**
 * Compiles a finder of the members with these names at the top level of an object. It works on bytes that
 * `JSON.parse` has accepted, so that it need not doubt them, and it skips over all other values unread: they can
 * be sent on as they came. Names are compared after unescaping.
 *
 * The finder throws HubError `invalid_request` with `param` when one of the names occurs twice: which of the two
 * counts would depend on the reader.
 */
export function createMemberFinder<const N extends string>(
  names: readonly N[],
  paramPrefix = '',
): (bytes: Buffer, start?: number) => FoundMembers<N> {
  const byLength = new Map<number, N[]>();
  for (const name of names) byLength.set(name.length, [...(byLength.get(name.length) ?? []), name]);
  const byName = new Map<string, N>(names.map((name) => [name, name]));

  function nameOf(bytes: Buffer, start: number, end: number): N | undefined {
    const candidates = byLength.get(end - start);
    if (candidates !== undefined) {
      const text = bytes.toString('latin1', start, end);
      for (const candidate of candidates) if (candidate === text) return candidate;
    }
    for (let index = start; index < end; index += 1) {
      if (bytes[index] === BACKSLASH)
        return byName.get(JSON.parse(bytes.toString('utf8', start - 1, end + 1)));
    }
    return undefined;
  }

  return (bytes, start = 0) => {
    const spans: { [name in N]?: MemberSpan } = {};
    const open = skipSpace(bytes, start) + 1;
    let at = skipSpace(bytes, open);
    if (bytes[at] === CLOSE_BRACE) return { spans, open, isEmpty: true };
    for (;;) {
      const keyStart = at;
      const keyEnd = skipString(bytes, at);
      const valueStart = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
      const valueEnd = skipValue(bytes, valueStart);
      const name = nameOf(bytes, keyStart + 1, keyEnd - 1);
      if (name !== undefined) {
        if (spans[name] !== undefined) {
          const param = paramPrefix + name;
          throw new HubError('invalid_request', `\`${param}\` must not occur twice`, { param });
        }
        spans[name] = { keyStart, keyEnd, valueStart, valueEnd };
      }
      at = skipSpace(bytes, valueEnd);
      if (bytes[at] !== COMMA) return { spans, open, isEmpty: false };
      at = skipSpace(bytes, at + 1);
    }
  };
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  // Beyond the four kinds of JSON white space nothing at or below U+0020 can stand here.
  while ((bytes[at] ?? QUOTE) <= SPACE) at += 1;
  return at;
}

/** @returns the index behind the closing quote of the string that begins at `from`. */
function skipString(bytes: Buffer, from: number): number {
  const { length } = bytes;
  const soon = Math.min(from + SHORT_STRING, length);
  let at = from + 1;
  while (at < soon) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return length;
    let before = quote - 1;
    while (before >= at && bytes[before] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote + 1;
    at = quote + 1;
  }
}

/** @returns the index behind the value that begins at `from`. */
function skipValue(bytes: Buffer, from: number): number {
  const { length } = bytes;
  const first = bytes[from];
  if (first === QUOTE) return skipString(bytes, from);
  let at = from;
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    while (at < length) {
      const byte = bytes[at];
      if (byte === undefined || byte <= SPACE || byte === COMMA || byte === CLOSE_BRACE) return at;
      at += 1;
    }
    return length;
  }
  let depth = 0;
  while (at < length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at += 1;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return length;
}
