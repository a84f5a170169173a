import type { CallFacts } from '../call-facts.ts';
import { isObject, type JsonObject, parsedObject } from '../json.ts';
import type { ProviderCall, ProviderStream, StreamReader, StreamSink } from '../providers/provider.ts';
import { eventData } from '../sse/event-data.ts';
import { createFrameSplitter } from '../sse/frame-splitter.ts';
import { errorOf, noteFacts } from './facts.ts';

/** Longest event of a stream, in bytes. Images of the responses route come in one event each. */
const LONGEST_EVENT = 16 * 1024 * 1024;

/** Members that carry the text of an answer, one of them in nearly every event. */
const TEXT_MEMBERS = ['"content"', '"arguments"', '"reasoning_content"', '"text"', '"delta"'];

/**
 * Streams that speak OpenAI's protocol already: relayed byte for byte, with a tap beside the path. The tap searches
 * each event as text and parses only the first one and those that say something new.
 */
export const relayedStream: ProviderStream = {
  createReader(sink: StreamSink, facts: CallFacts, { hidesUsage }: ProviderCall): StreamReader {
    let isOpen = false;

    function onFrame(bytes: Buffer, start: number, end: number): boolean | Buffer {
      const frame = bytes.toString('latin1', start, end);
      if (!isOpen) return onFirstFrame(bytes.toString('utf8', start, end));
      if (frame.startsWith('[DONE]', 6) || frame.startsWith('[DONE]', 5)) {
        facts.isComplete = true;
        return true;
      }
      facts.completionChars += textLength(frame);
      if (!saysSomethingNew(frame)) return true;
      const text = bytes.toString('utf8', start, end);
      const data = eventData(text);
      const document = data === undefined ? undefined : parsedObject(data);
      return document === undefined || note(document, text);
    }

    /** Decides whether the stream is one at all. Events without data decide nothing. */
    function onFirstFrame(frame: string): boolean | Buffer {
      const data = eventData(frame);
      if (data === undefined) return true;
      const document = parsedObject(data);
      const error = document === undefined ? undefined : errorOf(document);
      if (document === undefined || error !== undefined) {
        splitter.stop();
        if (error !== undefined) sink.fail(`the first event is an error: ${error}`);
        else sink.fail(data === '[DONE]' ? 'the stream is empty' : 'the first event is not a JSON object');
        return false;
      }
      isOpen = true;
      sink.open();
      facts.completionChars += textLength(frame);
      return note(document, frame);
    }

    /** @returns false for the chunk that holds only the usage, when it is not for the caller. */
    function note(document: JsonObject, frame: string): boolean | Buffer {
      noteFacts(document, facts);
      if (errorOf(document) !== undefined) {
        facts.hasFailed = true;
        const masked = sink.mask(frame);
        if (masked !== frame) return Buffer.from(masked);
      }
      const { choices, usage } = document;
      return !hidesUsage || !isObject(usage) || !Array.isArray(choices) || choices.length > 0;
    }

    const splitter = createFrameSplitter({
      onFrame,
      onBytes: sink.write,
      onOverflow: () => sink.fail(`an event of more than ${LONGEST_EVENT} bytes`),
      maxFrame: LONGEST_EVENT,
    });
    return {
      push: splitter.push,
      end() {
        const rest = splitter.rest();
        if (rest === undefined) return;
        // A last event without its blank line: passed on as it came, like everything else.
        const kept = onFrame(rest, 0, rest.length);
        if (kept !== false) sink.write(kept === true ? rest : kept);
      },
    };
  },
};

/** Whether an event has a finish reason, usage, a status or an error that is not null. Quotes within texts are escaped. */
function saysSomethingNew(frame: string): boolean {
  return (
    hasValue(frame, '"finish_reason"') ||
    hasValue(frame, '"usage"') ||
    hasValue(frame, '"error"') ||
    frame.includes('"response.failed"')
  );
}

function hasValue(frame: string, member: string): boolean {
  let at = frame.indexOf(member);
  while (at >= 0) {
    at += member.length;
    const value = valueAt(frame, at);
    if (frame[value] !== 'n') return true;
    at = frame.indexOf(member, value);
  }
  return false;
}

/** Length in bytes of the first text of an event. */
function textLength(frame: string): number {
  for (const member of TEXT_MEMBERS) {
    const found = frame.indexOf(member);
    if (found < 0) continue;
    const start = valueAt(frame, found + member.length);
    if (frame[start] !== '"') continue;
    let end = start + 1;
    while (end < frame.length && frame[end] !== '"') end += frame[end] === '\\' ? 2 : 1;
    return end - start - 1;
  }
  return 0;
}

function valueAt(frame: string, from: number): number {
  let at = from;
  while (frame[at] === ' ' || frame[at] === ':') at += 1;
  return at;
}
