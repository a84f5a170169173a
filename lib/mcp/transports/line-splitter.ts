/** Lines out of chunks, with a bound: a line past it is dropped as it comes, not collected. */
export interface LineSplitter {
  push(chunk: Buffer): void;
}

export interface LineSplitterDeps {
  maxBytes: number;
  line(text: string): void;
  /** A line past the bound has ended: its first and last bytes as text, enough to tell whose answer it was. */
  dropped(head: string, tail: string): void;
}

const LINE_END = 0x0a;
const KEPT = 256;

/** Splits newline-delimited messages; each byte is copied once at most, however the line was cut up. */
export function createLineSplitter({ maxBytes, line, dropped }: LineSplitterDeps): LineSplitter {
  let parts: Buffer[] = [];
  let length = 0;
  /** Set while the current line is past the bound. */
  let overflow: { head: string; tail: Buffer } | undefined;

  function collect(part: Buffer): void {
    length += part.length;
    if (overflow !== undefined) {
      overflow.tail = Buffer.from(Buffer.concat([overflow.tail, part]).subarray(-KEPT));
      return;
    }
    parts.push(part);
    if (length <= maxBytes) return;
    const all = Buffer.concat(parts);
    overflow = { head: all.toString('utf8', 0, KEPT), tail: Buffer.from(all.subarray(-KEPT)) };
    parts = [];
  }

  function finish(): void {
    const ended = overflow;
    const text = ended === undefined ? Buffer.concat(parts, length).toString('utf8') : '';
    parts = [];
    length = 0;
    overflow = undefined;
    if (ended === undefined) line(text);
    else dropped(ended.head, ended.tail.toString('utf8'));
  }

  return {
    push(chunk) {
      let from = 0;
      for (;;) {
        const end = chunk.indexOf(LINE_END, from);
        if (end === -1) break;
        if (length === 0 && end - from <= maxBytes) {
          // The usual case: a line that lies whole in one chunk.
          if (end > from) line(chunk.toString('utf8', from, end));
        } else {
          collect(chunk.subarray(from, end));
          finish();
        }
        from = end + 1;
      }
      if (from < chunk.length) collect(chunk.subarray(from));
    },
  };
}
