import type { ToolFailure } from '../failure.ts';
import { createSseParser } from './sse-parser.ts';

/** The content type of an event stream. */
export const EVENT_STREAM = 'text/event-stream';

/** Takes the body of one answer as it comes. */
export interface AnswerReader {
  data(chunk: Buffer): void;
  end(): void;
  /** The connection broke in the middle; left out by readers that cannot go on. */
  cut?(failure: ToolFailure): void;
}

/** An answer that nobody reads. */
export const IGNORED: AnswerReader = { data() {}, end() {} };

/** Collects a body up to a bound; past it `overflow` is called once and nothing more is kept. */
export function readWhole(
  maxBytes: number,
  whole: (text: string) => void,
  overflow = () => {},
): AnswerReader {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    data(chunk) {
      const before = length;
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else if (before <= maxBytes) overflow();
    },
    end() {
      if (length <= maxBytes) whole(Buffer.concat(chunks).toString('utf8'));
    },
  };
}

/** Where an event stream was left. */
export interface StreamEnd {
  lastEventId: string | undefined;
  retryMs: number | undefined;
}

export interface EventReaderDeps {
  maxLength: number;
  message(text: string): void;
  overflow(): void;
  /** The stream is over, by itself or by a failure. */
  ended(at: StreamEnd, failure?: ToolFailure): void;
}

/** Hands on the messages of an event stream. */
export function readEvents({ maxLength, message, overflow, ended }: EventReaderDeps): AnswerReader {
  const parser = createSseParser({
    maxLength,
    event: ({ name, data }) => {
      if (name === 'message') message(data);
    },
    overflow,
  });
  const end = (failure?: ToolFailure) =>
    ended({ lastEventId: parser.lastEventId(), retryMs: parser.retryMs() }, failure);
  return { data: parser.push, end: () => end(), cut: end };
}

/** The essence of a content type, in lower case; empty when there is none. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}
