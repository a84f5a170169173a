import type { IncomingHttpHeaders } from 'node:http';
import type { ToolFailure } from '../failure.ts';
import { oversized } from '../rpc-client.ts';
import { createHttpClient, type HttpExchange } from './http-client.ts';
import { errorText, httpFailure, isOlderTransport, noReply, sessionLost, streamCut } from './http-failure.ts';
import { networkFailure } from './network-failure.ts';
import { openSseConnection, type SseConnection } from './sse-connection.ts';
import { createSseParser } from './sse-parser.ts';
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

const SESSION = 'mcp-session-id';
const MAX_REDIRECTS = 3;
const MAX_RESUMES = 5;
const MAX_ERROR_BODY = 65_536;
/** How long a server may keep an answered stream open before it is closed from here. */
const LINGER_MS = 5_000;

/** What happens to one request that was posted. */
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
  const ownHeaders = lowerCased(options.headers);
  const posted = new Map<number, Posted>();
  let url = new URL(options.url);
  let sessionId: string | undefined;
  let protocolVersion: string | undefined;
  let legacy: SseConnection | undefined;
  let isOver = false;

  const standby = createStandbyStream({
    http,
    timing,
    request: () => ({ url, headers: headersFor('text/event-stream') }),
    maxMessageLength: maxMessageBytes,
    message: events.message,
    sessionLost: () => gone(sessionLost()),
    note: events.note,
  });

  function headersFor(accept: string): Record<string, string> {
    return {
      'user-agent': 'hub',
      ...ownHeaders,
      accept,
      ...(sessionId !== undefined && { [SESSION]: sessionId }),
      ...(protocolVersion !== undefined && { 'mcp-protocol-version': protocolVersion }),
    };
  }

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
    const entry: Posted | undefined =
      id === undefined ? undefined : { id, exchange: undefined, timer: undefined, resumes: 0 };
    if (entry !== undefined) posted.set(entry.id, entry);
    post(text, entry, 0);
  }

  function post(text: string, entry: Posted | undefined, redirects: number): void {
    let status = 0;
    let head: IncomingHttpHeaders = {};
    let receive: BodyReader | undefined;
    const exchange = http.send(
      {
        method: 'POST',
        url,
        headers: {
          ...headersFor('application/json, text/event-stream'),
          'content-type': 'application/json',
        },
        body: text,
      },
      {
        head(code, headers) {
          status = code;
          head = headers;
          // Only initialize opens a session.
          if (protocolVersion === undefined && code < 300) sessionId = textOf(headers[SESSION]) ?? sessionId;
          receive = readerFor(code, headers, entry, exchange);
        },
        data: (chunk) => receive?.data(chunk),
        end() {
          if (status < 300) receive?.end();
          else refused(receive?.text() ?? '');
        },
        error: (error) => fail(entry?.id, networkFailure(error)),
      },
    );
    if (entry !== undefined) entry.exchange = exchange;

    function refused(body: string): void {
      const moved = redirects < MAX_REDIRECTS ? redirectTarget(status, head.location, url) : undefined;
      if (moved !== undefined) {
        url = moved;
        post(text, entry, redirects + 1);
        return;
      }
      const { message, id } = errorText(head['content-type'], body);
      // A refusal that answers this very request is the server's word, whatever the status.
      if (entry !== undefined && id === entry.id) events.message(body);
      else if (entry !== undefined && protocolVersion === undefined && isOlderTransport(status)) {
        fallBack(text, entry, httpFailure(status, message, false));
      } else fail(entry?.id, httpFailure(status, message, sessionId !== undefined));
    }
  }

  interface BodyReader {
    data(chunk: Buffer): void;
    end(): void;
    /** What was collected, of an error. */
    text(): string;
  }

  function readerFor(
    status: number,
    headers: IncomingHttpHeaders,
    entry: Posted | undefined,
    exchange: HttpExchange,
  ): BodyReader {
    const type = mediaType(headers['content-type']);
    if (status >= 300)
      return collector(
        MAX_ERROR_BODY,
        () => {},
        () => {},
      );
    if (entry === undefined) return { data() {}, end() {}, text: () => '' };
    if (type === 'text/event-stream') return streamReader(entry, exchange);
    return collector(
      maxMessageBytes,
      (text) => {
        if (type === 'application/json') events.message(text);
        // Does nothing where that was the answer.
        events.requestFailed(entry.id, noReply(type));
      },
      () => {
        exchange.abort();
        events.requestFailed(entry.id, oversized(maxMessageBytes));
      },
    );
  }

  function streamReader(entry: Posted, exchange: HttpExchange): BodyReader {
    const parser = createSseParser({
      maxLength: maxMessageBytes,
      event: ({ name, data }) => {
        if (name === 'message') events.message(data);
      },
      overflow: () => {
        exchange.abort();
        events.requestFailed(entry.id, oversized(maxMessageBytes));
      },
    });
    return {
      data: parser.push,
      end: () => resume(entry, parser.lastEventId(), parser.retryMs()),
      text: () => '',
    };
  }

  /** An answer's stream has ended: fetches the rest where the server lets it be resumed, else the call is lost. */
  function resume(entry: Posted, lastEventId: string | undefined, retryMs: number | undefined): void {
    // Released: the answer was in it, or nobody waits any more.
    if (!posted.has(entry.id) || isOver) return;
    if (lastEventId === undefined || entry.resumes >= MAX_RESUMES) {
      events.requestFailed(entry.id, streamCut());
      return;
    }
    entry.resumes += 1;
    entry.timer = setTimeout(() => fetchRest(entry, lastEventId), retryMs ?? timing.resumeAfterMs);
  }

  function fetchRest(entry: Posted, lastEventId: string): void {
    let reader: BodyReader | undefined;
    const exchange: HttpExchange = http.send(
      { method: 'GET', url, headers: { ...headersFor('text/event-stream'), 'last-event-id': lastEventId } },
      {
        head(status, headers) {
          if (status === 200 && mediaType(headers['content-type']) === 'text/event-stream') {
            reader = streamReader(entry, exchange);
          }
        },
        data: (chunk) => reader?.data(chunk),
        end: () => (reader === undefined ? events.requestFailed(entry.id, streamCut()) : reader.end()),
        error: () => resume(entry, lastEventId, undefined),
      },
    );
    entry.exchange = exchange;
  }

  function fallBack(text: string, entry: Posted, original: ToolFailure): void {
    legacy = openSseConnection({
      http,
      url,
      headers: () => headersFor('text/event-stream'),
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
    else setTimeout(() => exchange?.abort(), LINGER_MS).unref();
  }

  async function close(): Promise<void> {
    isOver = true;
    standby.close();
    for (const id of [...posted.keys()]) release(id, false);
    legacy?.close();
    if (sessionId !== undefined) await sayGoodbye();
    await http.close();
  }

  /** Ends the session at the server; a courtesy with a short limit. */
  function sayGoodbye(): Promise<void> {
    return new Promise((resolve) => {
      const exchange = http.send(
        { method: 'DELETE', url, headers: headersFor('application/json') },
        { head: () => done(), data() {}, end: () => done(), error: () => done() },
      );
      const timer = setTimeout(done, timing.farewellMs);
      function done(): void {
        clearTimeout(timer);
        exchange.abort();
        resolve();
      }
    });
  }

  return {
    open: async (signal) => signal.throwIfAborted(),
    send,
    release,
    negotiated(version, announces) {
      protocolVersion = version;
      if (announces && legacy === undefined) standby.open();
    },
    facts: () => ({}),
    close,
  };
}

/** Collects a body up to a bound. */
function collector(maxBytes: number, whole: (text: string) => void, overflow: () => void) {
  const chunks: Buffer[] = [];
  let length = 0;
  const text = () => Buffer.concat(chunks).toString('utf8');
  return {
    data(chunk: Buffer) {
      const before = length;
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else if (before <= maxBytes) overflow();
    },
    end() {
      if (length <= maxBytes) whole(text());
    },
    text,
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function textOf(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The essence of a content type, in lower case. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Where a moved endpoint is: on the same origin only, since credentials go with the request. */
function redirectTarget(status: number, location: string | undefined, from: URL): URL | undefined {
  if ((status !== 307 && status !== 308) || location === undefined || !URL.canParse(location, from.href)) {
    return undefined;
  }
  const target = new URL(location, from);
  return target.origin === from.origin ? target : undefined;
}
