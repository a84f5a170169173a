import type { Readable } from 'node:stream';

/** A longer line is given in pieces of this many characters, so that a runaway writer costs no memory. */
const LONGEST_LINE = 1024 * 1024;

/** Calls `onLine` with each line of a text stream, without its end. A last line without an end counts too. */
export function splitLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') onLine(line);
    if (rest.length > LONGEST_LINE) {
      onLine(rest);
      rest = '';
    }
  });
  stream.on('end', () => {
    if (rest !== '') onLine(rest);
  });
  // The pipe breaks when the writer is killed; what it had written has been read by then.
  stream.on('error', () => {});
}
