import type { InternalResponse } from '../companion-client/internal-route.ts';

/** An event stream to a client: messages out, comments while it is quiet. */
export interface EventStream {
  /** Sends one JSON-RPC message; its text is on one line. */
  send(message: string): void;
  end(): void;
}

/** Under the idle time-outs of common proxies. */
const HEARTBEAT_MS = 15_000;
/** A client that does not read is cut off at so many waiting bytes. */
const MAX_UNREAD = 64 * 1024 * 1024;

/** Begins an event stream on a response that has not begun. */
export function openEventStream(
  response: InternalResponse,
  headers: Readonly<Record<string, string>>,
): EventStream {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    ...headers,
  });
  response.flushHeaders();
  const heartbeat = setInterval(() => write(': still here\n\n'), HEARTBEAT_MS).unref();
  response.once('close', () => clearInterval(heartbeat));

  function write(text: string): void {
    if (response.writableLength > MAX_UNREAD) response.destroy();
    else if (!response.writableEnded) response.write(text);
  }

  return {
    send: (message) => write(`event: message\ndata: ${message}\n\n`),
    end() {
      clearInterval(heartbeat);
      response.end();
    },
  };
}
