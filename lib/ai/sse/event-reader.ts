import { type JsonObject, parsedObject } from '../json.ts';
import type { StreamReader, StreamSink } from '../providers/provider.ts';
import { eventData } from './event-data.ts';
import { createFrameSplitter } from './frame-splitter.ts';

/** Longest event of a translated stream, in bytes. */
const LONGEST_EVENT = 16 * 1024 * 1024;

/**
 * Reads a stream of server-sent events whose data are JSON objects, for providers that are translated. Comments are
 * dropped. An event that is not JSON ends the stream as malformed.
 * @param onEvent one event; false ends the reading.
 */
export function createEventReader(
  sink: StreamSink,
  onEvent: (event: JsonObject) => boolean,
  onEnd: () => void,
): StreamReader {
  function onFrame(bytes: Buffer, start: number, end: number): boolean {
    const data = eventData(bytes.toString('utf8', start, end));
    if (data === undefined) return false;
    const event = parsedObject(data);
    if (event === undefined) {
      splitter.stop();
      sink.fail('an event that is not a JSON object');
    } else if (!onEvent(event)) splitter.stop();
    return false;
  }

  const splitter = createFrameSplitter({
    onFrame,
    onBytes() {},
    onOverflow: () => sink.fail(`an event of more than ${LONGEST_EVENT} bytes`),
    maxFrame: LONGEST_EVENT,
  });
  return {
    push: splitter.push,
    end() {
      const rest = splitter.rest();
      if (rest !== undefined) onFrame(rest, 0, rest.length);
      onEnd();
    },
  };
}
