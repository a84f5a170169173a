import type { HttpClient, HttpExchange } from './http-client.ts';
import { createSseParser } from './sse-parser.ts';

/** The standing GET on which a server announces changes by itself. */
export interface StandbyStream {
  open(): void;
  close(): void;
}

export interface StandbyStreamDeps {
  http: HttpClient;
  timing: { standbyBaseMs: number; standbyCapMs: number };
  /** Address and headers as they are now. */
  request(): { url: URL; headers: Record<string, string> };
  maxMessageLength: number;
  message(text: string): void;
  /** The server has forgotten the session. */
  sessionLost(): void;
  note(message: string): void;
}

/**
 * Keeps the stream open with a growing pause between attempts: servers that close it at once are common, and
 * coming back every second for ever helps nobody. A server that has none answers 405 and is left in peace.
 */
export function createStandbyStream(deps: StandbyStreamDeps): StandbyStream {
  const { timing, http } = deps;
  let exchange: HttpExchange | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let lastEventId: string | undefined;
  let closed = false;

  function open(): void {
    if (closed) return;
    const { url, headers } = deps.request();
    const startedAt = performance.now();
    let status = 0;
    const parser = createSseParser({
      maxLength: deps.maxMessageLength,
      event: ({ name, data }) => {
        if (name === 'message') deps.message(data);
      },
      overflow: () => again(),
    });
    exchange = http.send(
      {
        method: 'GET',
        url,
        headers: lastEventId === undefined ? headers : { ...headers, 'last-event-id': lastEventId },
      },
      {
        head: (code) => {
          status = code;
        },
        data: (chunk) => {
          if (status === 200) parser.push(chunk);
        },
        end: ended,
        error: ended,
      },
    );

    function ended(): void {
      if (status === 404) deps.sessionLost();
      else if (status === 200 || status === 0 || status >= 500) again();
      else deps.note(`the server has no standing event stream (HTTP ${status})`);
    }
    function again(): void {
      exchange?.abort();
      if (closed) return;
      lastEventId = parser.lastEventId() ?? lastEventId;
      const lived = performance.now() - startedAt;
      failures = lived > timing.standbyCapMs ? 0 : failures + 1;
      const pause = Math.min(timing.standbyCapMs, timing.standbyBaseMs * 2 ** failures);
      timer = setTimeout(open, Math.max(parser.retryMs() ?? 0, pause)).unref();
    }
  }

  return {
    open,
    close() {
      closed = true;
      clearTimeout(timer);
      exchange?.abort();
    },
  };
}
