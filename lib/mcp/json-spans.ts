/**
 * Raw members of JSON texts. Arguments and results pass through the hub as they were written, number literals
 * beyond a double included, so they are cut out of the text and never serialised again. Every function takes a
 * text that JSON.parse has accepted: it may rely on valid syntax and does not check it a second time.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function skipSpace(text: string, from: number): number {
  let index = from;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return index;
    index += 1;
  }
}

/** Index after the string that opens at `from`. Jumps from quote to quote: base64 payloads are long. */
function skipString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  for (;;) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
}

function skipValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return skipString(text, from);
  let index = from;
  if (first !== 0x7b && first !== 0x5b) {
    // A number or literal ends where its container goes on.
    for (;;) {
      const code = text.charCodeAt(index);
      if (Number.isNaN(code) || code === 0x2c || code === 0x7d || code === 0x5d || code <= 0x20) return index;
      index += 1;
    }
  }
  let depth = 0;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = skipString(text, index);
      continue;
    }
    index += 1;
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
}

/**
 * The raw text of a member of the object that `text` holds, or undefined when there is none. Of a name that
 * occurs twice the last one counts, as in JSON.parse.
 */
export function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  let index = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(index) === QUOTE) {
    const keyEnd = skipString(text, index);
    const key = text.slice(index, keyEnd);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = skipValue(text, valueStart);
    // An escaped key such as "arg\u0075ments" is the same member.
    if ((key.includes('\\') ? JSON.parse(key) : key.slice(1, -1)) === name) {
      found = text.slice(valueStart, valueEnd);
    }
    index = skipSpace(text, valueEnd);
    if (text.charCodeAt(index) !== 0x2c) break;
    index = skipSpace(text, index + 1);
  }
  return found;
}

/** Adds members (`"name":value`, comma-separated) at the end of the object that `text` holds. */
export function withMembers(text: string, members: string): string {
  const end = text.lastIndexOf('}');
  let before = end - 1;
  while (text.charCodeAt(before) <= 0x20) before -= 1;
  const empty = text.charCodeAt(before) === 0x7b;
  return `${text.slice(0, end)}${empty ? '' : ','}${members}}`;
}

/** The same JSON on one line. Line ends can only be insignificant space: inside strings JSON forbids them. */
export function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, ' ') : text;
}
