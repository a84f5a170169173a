import type { InternalRequest, InternalResponse } from '../companion-client/internal-route.ts';
import { HubError } from '../errors/hub-error.ts';
import { sendText } from '../http/json-response.ts';
import { type EventStream, openEventStream } from './event-stream.ts';

/** The answer to one POST: plain JSON while that does, an event stream as soon as there is more to say. */
export interface McpAnswer {
  /** Sends a message ahead of the result; false for a client that takes no event streams, which gets none. */
  send(message: string): boolean;
  /** Sends the answers, more than one for a batch, and ends. */
  finish(messages: readonly string[]): void;
  /** Ends without a result: the client has taken its request back. */
  drop(): void;
}

/** What a client can read. */
export interface Accepts {
  json: boolean;
  events: boolean;
}

/** @throws HubError 406 when it can read neither. */
export function readAccept(request: InternalRequest): Accepts {
  const accept = request.headers.accept ?? '*/*';
  const any = accept.includes('*/*');
  const json = any || /application\/(json|\*)/i.test(accept);
  const events = /text\/(event-stream|\*)/i.test(accept);
  if (!json && !events) {
    throw new HubError('invalid_request', 'Accept must name application/json or text/event-stream', {
      param: 'accept',
      status: 406,
    });
  }
  return { json, events };
}

/** Silence after which an unfinished answer becomes an event stream, whose comments keep the connection alive. */
const PATIENCE_MS = 10_000;

export function createMcpAnswer(
  response: InternalResponse,
  accepts: Accepts,
  headers: Readonly<Record<string, string>>,
): McpAnswer {
  let stream: EventStream | undefined;
  const timer = accepts.events ? setTimeout(streaming, PATIENCE_MS).unref() : undefined;
  response.once('close', () => clearTimeout(timer));

  function streaming(): EventStream {
    clearTimeout(timer);
    stream ??= openEventStream(response, headers);
    return stream;
  }

  return {
    send(message) {
      if (accepts.events) streaming().send(message);
      return accepts.events;
    },
    finish(messages) {
      clearTimeout(timer);
      if (stream === undefined && accepts.json) {
        const text = messages.length === 1 ? messages[0] : undefined;
        sendText(response, 200, 'application/json', text ?? `[${messages.join(',')}]`, headers);
        return;
      }
      for (const message of messages) streaming().send(message);
      streaming().end();
    },
    drop() {
      clearTimeout(timer);
      if (stream === undefined) response.writeHead(202, headers).end();
      else stream.end();
    },
  };
}
