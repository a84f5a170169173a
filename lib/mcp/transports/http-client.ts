import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { addressRefused, isRefusedAddress, safeLookup } from './network-rules.ts';

export interface HttpRequest {
  method: Dispatcher.HttpMethod;
  url: URL;
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: string;
}

/** Receives an answer as it comes; ends with exactly one of `end` and `error`, unless it was aborted. */
export interface HttpReceiver {
  head(status: number, headers: IncomingHttpHeaders): void;
  data(chunk: Buffer): void;
  end(): void;
  error(error: Error): void;
}

export interface HttpExchange {
  /** Ends the exchange and its connection; nothing is received any more. */
  abort(): void;
  isOver(): boolean;
}

/** HTTP without buffering, redirects or time-outs of its own, to addresses that are allowed. */
export interface HttpClient {
  send(request: HttpRequest, receiver: HttpReceiver): HttpExchange;
  close(): Promise<void>;
}

/** The longest time for one TCP and TLS connection. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Its own connections, so that closing one tool server touches no other. */
export function createHttpClient(): HttpClient {
  const agent = new Agent({
    connect: { lookup: safeLookup, timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
    // Shorter than the 5 s of common servers: a call must not meet a connection that is being closed.
    keepAliveTimeout: 4_000,
  });

  function send({ method, url, headers, body }: HttpRequest, receiver: HttpReceiver): HttpExchange {
    let controller: Dispatcher.DispatchController | undefined;
    let over = false;
    const fail = (error: Error) => {
      if (over) return;
      over = true;
      receiver.error(error);
    };
    if (isRefusedAddress(url.hostname)) {
      queueMicrotask(() => fail(addressRefused()));
    } else {
      agent.dispatch(
        { origin: url.origin, path: url.pathname + url.search, method, headers, body: body ?? null },
        {
          onRequestStart(started) {
            controller = started;
            if (over) started.abort(new Error('given up'));
          },
          onResponseStart(_controller, status, received) {
            if (!over && status >= 200) receiver.head(status, received);
          },
          onResponseData(_controller, chunk) {
            if (!over) receiver.data(chunk);
          },
          onResponseEnd() {
            if (over) return;
            over = true;
            receiver.end();
          },
          onResponseError: (_controller, error) => fail(error),
        },
      );
    }
    return {
      abort() {
        if (over) return;
        over = true;
        controller?.abort(new Error('given up'));
      },
      isOver: () => over,
    };
  }

  return { send, close: () => agent.destroy() };
}
