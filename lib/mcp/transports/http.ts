import type { IncomingHttpHeaders } from 'node:http';
import type { ToolFailure } from '../failure.ts';
import { type AnswerReader, EVENT_STREAM, readWhole } from './answer-reader.ts';
import { createHttpAnswers, type Posted } from './http-answers.ts';
import { createHttpClient } from './http-client.ts';
import { errorText, httpFailure, isOlderTransport, sessionLost } from './http-failure.ts';
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

const MAX_ERROR_BODY = 65_536;
/** How long a server may keep an answered stream open before it is closed from here. */
const LINGER_MS = 5_000;

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
    request: () => ({ url: session.url(), headers: session.headers(EVENT_STREAM) }),
    maxMessageLength: maxMessageBytes,
    message: events.message,
    sessionLost: () => gone(sessionLost()),
    note: events.note,
  });
  const answers = createHttpAnswers({
    http,
    session,
    events,
    maxMessageBytes,
    timing,
    isAwaited: (id) => posted.has(id) && !isOver,
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
    const headers = {
      ...session.headers(`application/json, ${EVENT_STREAM}`),
      'content-type': 'application/json',
    };
    const exchange = http.send(
      { method: 'POST', url: session.url(), headers, body: text },
      {
        head(code, received) {
          status = code;
          head = received;
          if (status < 300) session.opened(received);
          answer = status < 300 ? answers.reader(received, entry, exchange) : refusal;
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

  function fallBack(text: string, entry: Posted, original: ToolFailure): void {
    legacy = openSseConnection({
      http,
      url: session.url(),
      headers: () => session.headers(EVENT_STREAM),
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
