const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;

export interface FrameSplitterOptions {
  /**
   * A whole event: the lines up to and including their blank line, at `bytes[start, end)`.
   * @returns whether the caller may have it; false takes it out of the stream, bytes take its place.
   */
  onFrame(bytes: Buffer, start: number, end: number): boolean | Buffer;
  /** Bytes to pass on: whole events, and comments and blank lines between them, as they came. */
  onBytes(bytes: Buffer): void;
  /** An event grew past `maxFrame` bytes. */
  onOverflow(): void;
  maxFrame: number;
}

export interface FrameSplitter {
  /** Takes bytes cut anywhere: in a character, between CR and LF. */
  push(chunk: Buffer): void;
  /** What came after the last whole event; undefined when nothing did. */
  rest(): Buffer | undefined;
  /** Nothing more is wanted, not even the remainder of the chunk being read. */
  stop(): void;
}

/**
 * Cuts a byte stream into server-sent events (WHATWG HTML §9.2: lines end with LF, CR LF or CR). Bytes of an event
 * wait until it is whole, so that a provider that dies within one never leaves half an event with the caller.
 * Comments outside of an event pass at once.
 */
export function createFrameSplitter(options: FrameSplitterOptions): FrameSplitter {
  const { onFrame, onBytes, onOverflow, maxFrame } = options;
  /** Beginning of the event that the last chunks left unfinished. */
  let held: Buffer[] = [];
  let heldLength = 0;
  let isLineEmpty = true;
  let isComment = false;
  let hasLines = false;
  let afterCr = false;
  let wasDropped = false;
  let isOver = false;

  function push(chunk: Buffer): void {
    if (isOver) return;
    const { length } = chunk;
    /** First byte that was neither passed on nor dropped. */
    let from = 0;
    /** First byte of the event or comment being read; 0 while it began in an earlier chunk. */
    let unit = 0;
    let at = 0;
    while (at < length) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) {
        if (isLineEmpty) {
          isLineEmpty = false;
          isComment = byte === COLON && !hasLines;
        }
        afterCr = false;
        at += 1;
        while (at < length && chunk[at] !== LF && chunk[at] !== CR) at += 1;
        continue;
      }
      at += 1;
      if (byte === LF && afterCr) {
        // Second half of a line end that has been acted upon.
        afterCr = false;
        if (heldLength === 0 && unit === at - 1) {
          unit = at;
          if (wasDropped) from = at;
        }
        continue;
      }
      afterCr = byte === CR;
      const isEnd = isLineEmpty || isComment;
      if (!isEnd) hasLines = true;
      isLineEmpty = true;
      if (!isEnd) continue;

      const isFrame = hasLines && !isComment;
      isComment = false;
      wasDropped = false;
      if (isFrame) hasLines = false;
      if (heldLength > 0) {
        held.push(chunk.subarray(0, at));
        const joined = Buffer.concat(held);
        held = [];
        heldLength = 0;
        const kept = !isFrame || onFrame(joined, 0, joined.length);
        if (kept !== false) onBytes(kept === true ? joined : kept);
        wasDropped = kept !== true;
        from = at;
      } else if (isFrame) {
        const kept = onFrame(chunk, unit, at);
        if (kept !== true) {
          if (unit > from) onBytes(chunk.subarray(from, unit));
          if (kept !== false) onBytes(kept);
          wasDropped = true;
          from = at;
        }
      }
      if (isOver) return;
      unit = at;
    }
    if (unit > from) onBytes(chunk.subarray(from, unit));
    if (unit < length) {
      held.push(unit === 0 ? chunk : chunk.subarray(unit));
      heldLength += length - unit;
      if (heldLength > maxFrame) {
        isOver = true;
        held = [];
        onOverflow();
      }
    }
  }

  return {
    push,
    rest: () => (heldLength === 0 ? undefined : Buffer.concat(held)),
    stop() {
      isOver = true;
    },
  };
}
