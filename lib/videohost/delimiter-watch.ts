/** What every delimiter of a form begins with, whatever its boundary (RFC 2046 §5.1.1). */
const BEGIN = Buffer.from('\r\n--');
const CR = 13;
/** Longer than any delimiter: its boundary stands in a header, and node:http takes no more than 16 kB of those. */
const LONGEST_DELIMITER = 16 * 1024;

/**
 * Creates a watch over the chunks of a form, which it must see all, in their order. It tells of each whether it can be
 * nothing but content: no delimiter begins in it, at its end, or in what came before and might go on in it.
 */
export function createDelimiterWatch(): (chunk: Buffer) => boolean {
  /** Bytes since a delimiter may have begun. */
  let clean = 0;
  return (chunk) => {
    const mayBegin = chunk.includes(BEGIN) || endsInBegin(chunk);
    const isContent = !mayBegin && clean >= LONGEST_DELIMITER;
    clean = mayBegin ? 0 : clean + chunk.length;
    return isContent;
  };
}

/** Whether the last bytes may be the first of a delimiter's beginning. */
function endsInBegin(chunk: Buffer): boolean {
  for (let at = Math.max(0, chunk.length - BEGIN.length + 1); at < chunk.length; at += 1) {
    if (chunk[at] === CR) return true;
  }
  return false;
}
