import type { IncomingHttpHeaders } from 'node:http';
import { oversized, type ToolFailure } from '../failure.ts';
import {
  type AnswerReader,
  EVENT_STREAM,
  IGNORED,
  mediaType,
  readEvents,
  readWhole,
  type StreamEnd,
} from './answer-reader.ts';
import type { HttpClient, HttpExchange } from './http-client.ts';
import { noReply, streamCut } from './http-failure.ts';
import type { HttpSession } from './http-session.ts';
import { networkFailure } from './network-failure.ts';
import type { TransportEvents } from './transport.ts';

const MAX_RESUMES = 5;

/** One request that was posted and has no answer yet. */
export interface Posted {
  id: number;
  exchange: HttpExchange | undefined;
  timer: NodeJS.Timeout | undefined;
  resumes: number;
}

/** Reads the answers to posted requests, as one message or as an event stream. */
export interface HttpAnswers {
  /** The reader for an accepted message's answer; `entry` is given for requests. */
  reader(headers: IncomingHttpHeaders, entry: Posted | undefined, exchange: HttpExchange): AnswerReader;
}

export interface HttpAnswersDeps {
  http: HttpClient;
  session: HttpSession;
  events: TransportEvents;
  maxMessageBytes: number;
  /** Milliseconds before a cut answer is fetched again, unless the server says otherwise. */
  timing: { resumeAfterMs: number };
  /** Whether somebody still waits for the answer. */
  isAwaited(id: number): boolean;
}

export function createHttpAnswers(deps: HttpAnswersDeps): HttpAnswers {
  const { http, session, events, maxMessageBytes, timing } = deps;

  function reader(
    headers: IncomingHttpHeaders,
    entry: Posted | undefined,
    exchange: HttpExchange,
  ): AnswerReader {
    if (entry === undefined) return IGNORED;
    const type = mediaType(headers['content-type']);
    if (type === EVENT_STREAM) return eventReader(entry, exchange);
    return readWhole(
      maxMessageBytes,
      (text) => {
        if (type === 'application/json') events.message(text, entry.id);
        // Does nothing where that was the answer.
        events.requestFailed(entry.id, noReply(type));
      },
      () => tooLarge(entry, exchange),
    );
  }

  function eventReader(entry: Posted, exchange: HttpExchange): AnswerReader {
    return readEvents({
      maxLength: maxMessageBytes,
      message: (text) => events.message(text, entry.id),
      overflow: () => tooLarge(entry, exchange),
      ended: (at, failure) => resume(entry, at, failure ?? streamCut()),
    });
  }

  function tooLarge(entry: Posted, exchange: HttpExchange): void {
    exchange.abort();
    events.requestFailed(entry.id, oversized(maxMessageBytes));
  }

  /** An answer's stream is over: fetches the rest where the server lets it be resumed, else the call is lost. */
  function resume(entry: Posted, { lastEventId, retryMs }: StreamEnd, failure: ToolFailure): void {
    // Released: the answer was in it, or nobody waits any more.
    if (!deps.isAwaited(entry.id)) return;
    if (lastEventId === undefined || entry.resumes >= MAX_RESUMES) {
      events.requestFailed(entry.id, failure);
      return;
    }
    entry.resumes += 1;
    entry.timer = setTimeout(() => fetchRest(entry, lastEventId), retryMs ?? timing.resumeAfterMs);
  }

  function fetchRest(entry: Posted, lastEventId: string): void {
    let answer: AnswerReader | undefined;
    const from = { lastEventId, retryMs: undefined };
    const headers = { ...session.headers(EVENT_STREAM), 'last-event-id': lastEventId };
    const exchange: HttpExchange = http.send(
      { method: 'GET', url: session.url(), headers },
      {
        head(status, received) {
          const isStream = status === 200 && mediaType(received['content-type']) === EVENT_STREAM;
          if (isStream) answer = eventReader(entry, exchange);
        },
        data: (chunk) => answer?.data(chunk),
        end: () => (answer === undefined ? events.requestFailed(entry.id, streamCut()) : answer.end()),
        error: (error) => {
          if (answer?.cut === undefined) resume(entry, from, networkFailure(error));
          else answer.cut(networkFailure(error));
        },
      },
    );
    entry.exchange = exchange;
  }

  return { reader };
}
