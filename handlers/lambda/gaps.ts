import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';

// What the requests and responses of serverless-http lack of those of Node is made up for here.
const HEAD_END = '\r\n\r\n';

type Done = () => void;

/** A response was destroyed before its end. */
export class CutOff extends Error {
  override readonly name = 'CutOff';
}

/** serverless-http also emits an `end` of its own for an empty body, before or after the stream's. */
export function endOnce(request: IncomingMessage): void {
  const { emit } = request;
  let ended = false;
  request.emit = (name: string | symbol, ...values: unknown[]) => {
    if (name === 'end') {
      if (ended || !request.readableEnded) return false;
      ended = true;
    }
    return emit.call(request, name, ...values);
  };
}

/**
 * serverless-http waits for `finish` or `error`; a destroyed response has neither. Its socket takes everything at
 * once but does not say so, without which Node never counts the response as written, and takes every text for UTF-8.
 */
export function mendResponse(response: ServerResponse): void {
  const socket = response.socket as Writable & { writableLength: number };
  socket.writableLength = 0;
  const write = socket.write.bind(socket) as (data: string | Buffer) => boolean;
  let headWritten = false;
  socket.write = ((data: string | Buffer, encoding?: BufferEncoding | Done, done?: Done) => {
    const end = headWritten ? 0 : data.indexOf(HEAD_END) + HEAD_END.length;
    if (!headWritten) write(String(data.slice(0, end)));
    headWritten = true;
    const body = data.slice(end);
    if (body.length > 0) write(typeof body === 'string' ? Buffer.from(body, encodingOf(encoding)) : body);
    (typeof encoding === 'function' ? encoding : done)?.();
    return true;
  }) as Writable['write'];

  const { destroy } = response;
  response.destroy = (error?: Error) => {
    destroy.call(response, error);
    // It listens only once the app has returned, which may be after this.
    setImmediate(() => {
      if (response.listenerCount('error') === 0) return;
      response.emit('error', new CutOff('The response was cut off', { cause: error }));
    });
    return response;
  };
}

function encodingOf(encoding: BufferEncoding | Done | undefined): BufferEncoding {
  return typeof encoding === 'string' ? encoding : 'utf8';
}
