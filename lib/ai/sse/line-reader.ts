import { type JsonObject, parsedObject } from '../json.ts';
import type { StreamReader, StreamSink } from '../providers/provider.ts';

const LF = 0x0a;
/** Longest line of a translated stream, in bytes. */
const LONGEST_LINE = 16 * 1024 * 1024;

/**
 * Reads a stream of JSON objects, one a line (NDJSON), cut anywhere. A line that is not JSON ends the stream as
 * malformed.
 * @param onObject one object; false ends the reading.
 */
export function createLineReader(
  sink: StreamSink,
  onObject: (object: JsonObject) => boolean,
  onEnd: () => void,
): StreamReader {
  let held: Buffer[] = [];
  let heldLength = 0;
  let isOver = false;

  function onLine(line: string): void {
    if (isOver || line.trim() === '') return;
    const object = parsedObject(line);
    if (object === undefined) {
      isOver = true;
      sink.fail('a line that is not a JSON object');
    } else if (!onObject(object)) isOver = true;
  }

  return {
    push(chunk) {
      let from = 0;
      for (let end = chunk.indexOf(LF); end >= 0 && !isOver; end = chunk.indexOf(LF, from)) {
        held.push(chunk.subarray(from, end));
        onLine(Buffer.concat(held).toString('utf8'));
        held = [];
        heldLength = 0;
        from = end + 1;
      }
      if (isOver || from >= chunk.length) return;
      held.push(chunk.subarray(from));
      heldLength += chunk.length - from;
      if (heldLength > LONGEST_LINE) {
        isOver = true;
        sink.fail(`a line of more than ${LONGEST_LINE} bytes`);
      }
    },
    end() {
      onLine(Buffer.concat(held).toString('utf8'));
      onEnd();
    },
  };
}
