import type { IncomingHttpHeaders } from 'node:http';
import type { ToolFailure } from '../failure.ts';
import { oversized } from '../rpc-client.ts';
import {
  type AnswerReader,
  IGNORED,
  mediaType,
  readEvents,
  readWhole,
  type StreamEnd,
} from './answer-reader.ts';
import { createHttpClient, type HttpExchange } from './http-client.ts';
import { errorText, httpFailure, isOlderTransport, noReply, sessionLost, streamCut } from './http-failure.ts';
import { createHttpSession } from './http-session.ts';
import { networkFailure } from './network-failure.ts';
import { openSseConnection, type SseConnection } from './sse-connection.ts';
import { createStandbyStream } from './standby-stream.ts';
import type { Transport, TransportEvents, TransportFactory } from './transport.ts';

export interface HttpOptions {
  url: string;
  /** The operator's, e.g. Authorization. */
  headers: Readonly<Record<string, string>>;
  /** Bytes of one message. */
  maxMessageBytes: number;
  timing: HttpTiming;
}

/** Milliseconds. */
export interface HttpTiming {
  /** Before a cut answer is fetched again, unless the server says otherwise. */
  resumeAfterMs: number;
  /** Backoff of the standing event stream. */
  standbyBaseMs: number;
  standbyCapMs: number;
  /** For ending the session at the server. */
  farewellMs: number;
}

const EVENTS = 'text/event-stream';
const MAX_RESUMES = 5;
const MAX_ERROR_BODY = 65_536;
/** How long a server may keep an answered stream open before it is closed from here. */
const LINGER_MS = 5_000;

/** One request that was posted and has no answer yet. */
interface Posted {
  id: number;
  exchange: HttpExchange | undefined;
  timer: NodeJS.Timeout | undefined;
  resumes: number;
}

/**
 * Streamable HTTP (MCP 2025-03-26 and later), with the older HTTP+SSE transport as fallback. Our own client,
 * because a server may cut an answer's stream, forget its session, or send without end, and each must fail just
 * the call that it concerns.
 */
export function httpTransport(options: HttpOptions): TransportFactory {
  return (events) => createHttpTransport(options, events);
}

function createHttpTransport(options: HttpOptions, events: TransportEvents): Transport {
  const { maxMessageBytes, timing } = options;
  const http = createHttpClient();
  const session = createHttpSession(http, options.url, options.headers);
  const posted = new Map<number, Posted>();
  let legacy: SseConnection | undefined;
  let isOver = false;

  const standby = createStandbyStream({
    http,
    timing,
    request: () => ({ url: session.url(), headers: session.headers(EVENTS) }),
    maxMessageLength: maxMessageBytes,
    message: events.message,
    sessionLost: () => gone(sessionLost()),
    note: events.note,
  });

  function gone(failure: ToolFailure): void {
    if (isOver) return;
    isOver = true;
    events.closed(failure);
  }

  function fail(id: number | undefined, failure: ToolFailure): void {
    if (id === undefined) events.note(failure.message);
    else events.requestFailed(id, failure);
    // Nobody there, the session forgotten or the credentials refused: that is the end for all calls.
    if (failure.neverSent || failure.code === 'unauthorized') gone(failure);
  }

  function send(text: string, id?: number): void {
    if (isOver) return;
    if (legacy !== undefined) {
      legacy.post(text, id);
      return;
    }
    const entry = id === undefined ? undefined : { id, exchange: undefined, timer: undefined, resumes: 0 };
    if (entry !== undefined) posted.set(entry.id, entry);
    post(text, entry);
  }

  function post(text: string, entry: Posted | undefined): void {
    let status = 0;
    let head: IncomingHttpHeaders = {};
    let answer: AnswerReader | undefined;
    const refusal = readWhole(MAX_ERROR_BODY, refused, () => refused(''));
    const headers = { ...session.headers(`application/json, ${EVENTS}`), 'content-type': 'application/json' };
    const exchange = http.send(
      { method: 'POST', url: session.url(), headers, body: text },
      {
        head(code, received) {
          status = code;
          head = received;
          if (status < 300) session.opened(received);
          answer = status < 300 ? answerReader(received, entry, exchange) : refusal;
        },
        data: (chunk) => answer?.data(chunk),
        end: () => answer?.end(),
        error: (error) => {
          if (answer?.cut === undefined) fail(entry?.id, networkFailure(error));
          else answer.cut(networkFailure(error));
        },
      },
    );
    if (entry !== undefined) entry.exchange = exchange;

    function refused(body: string): void {
      exchange.abort();
      if (session.moved(status, head.location)) {
        post(text, entry);
        return;
      }
      const { message, id } = errorText(head['content-type'], body);
      // A refusal that answers this very request is the server's word, whatever the status.
      if (entry !== undefined && id === entry.id) events.message(body, entry.id);
      else if (entry !== undefined && !session.isNegotiated() && isOlderTransport(status)) {
        fallBack(text, entry, httpFailure(status, message, false));
      } else fail(entry?.id, httpFailure(status, message, session.hasId()));
    }
  }

  function answerReader(
    headers: IncomingHttpHeaders,
    entry: Posted | undefined,
    exchange: HttpExchange,
  ): AnswerReader {
    if (entry === undefined) return IGNORED;
    const type = mediaType(headers['content-type']);
    if (type === EVENTS) return eventReader(entry, exchange);
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
    if (!posted.has(entry.id) || isOver) return;
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
    const headers = { ...session.headers(EVENTS), 'last-event-id': lastEventId };
    const exchange: HttpExchange = http.send(
      { method: 'GET', url: session.url(), headers },
      {
        head(status, received) {
          const isStream = status === 200 && mediaType(received['content-type']) === EVENTS;
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

  function fallBack(text: string, entry: Posted, original: ToolFailure): void {
    legacy = openSseConnection({
      http,
      url: session.url(),
      headers: () => session.headers(EVENTS),
      maxMessageLength: maxMessageBytes,
      message: events.message,
      requestFailed: events.requestFailed,
      // Until the stream stands, the refusal of the newer transport says more.
      closed: (failure, stood) => gone(stood ? failure : original),
    });
    legacy.post(text, entry.id);
  }

  function release(id: number, answered: boolean): void {
    const entry = posted.get(id);
    if (entry === undefined) return;
    posted.delete(id);
    clearTimeout(entry.timer);
    const { exchange } = entry;
    if (!answered) exchange?.abort();
    else if (exchange?.isOver() === false) setTimeout(() => exchange.abort(), LINGER_MS).unref();
  }

  return {
    open: async (signal) => signal.throwIfAborted(),
    send,
    release,
    negotiated(version, speaksItself) {
      session.negotiated(version);
      if (speaksItself && legacy === undefined) standby.open();
    },
    facts: () => ({}),
    async close() {
      isOver = true;
      standby.close();
      for (const id of [...posted.keys()]) release(id, false);
      legacy?.close();
      await session.farewell(timing.farewellMs);
      await http.close();
    },
  };
}
