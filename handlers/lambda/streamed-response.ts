import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { StreamHead } from './awslambda.ts';

const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * A response whose bytes go to `begin(head)` as they are written, with its backpressure. Node's own class does the
 * work; its "socket" cuts off the head, which Lambda wants as an object, and hands on the rest.
 */
export function createStreamedResponse(
  request: IncomingMessage,
  begin: (head: StreamHead) => Writable,
): ServerResponse {
  const response = new ServerResponse(request);
  // Lambda frames the body.
  response.useChunkedEncodingByDefault = false;
  let out: Writable | undefined;
  let head: Buffer = Buffer.alloc(0);

  const socket = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (out !== undefined) {
        pass(out, chunk, done);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(HEAD_END);
      if (end === -1) {
        done();
        return;
      }
      out = begin(headOf(response));
      // A caller that left is Lambda's to notice; where it does, the app sees its response close.
      out.once('error', () => socket.destroy());
      pass(out, head.subarray(end + HEAD_END.length), done);
    },
    destroy(error, done) {
      if (!response.writableFinished) out?.destroy(error ?? new Error('The answer was cut'));
      done(null);
    },
  });
  socket.on('drain', () => response.emit('drain'));
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
  response.once('finish', () => {
    out?.end();
    socket.destroy();
  });
  return response;
}

function pass(out: Writable, chunk: Buffer, done: () => void): void {
  if (chunk.length === 0 || out.write(chunk)) done();
  else out.once('drain', done);
}

function headOf(response: ServerResponse): StreamHead {
  const head: StreamHead = { statusCode: response.statusCode, headers: {}, multiValueHeaders: {} };
  for (const [name, value] of Object.entries(response.getHeaders() as OutgoingHttpHeaders)) {
    if (Array.isArray(value)) head.multiValueHeaders[name] = value;
    else if (value !== undefined) head.headers[name] = String(value);
  }
  return head;
}
