import { type IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { StreamHead } from './awslambda.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
/** What Node says of a connection that is not there. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

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
      out = begin(parseHead(response.statusCode, head.toString('latin1', 0, end)));
      // A caller that left is Lambda's to notice; where it does, the app sees its response close.
      out.once('error', () => socket.destroy());
      pass(out, head.subarray(end + HEAD_END.length), done);
    },
    destroy(error, done) {
      if (out !== undefined && !response.writableFinished) {
        out.destroy(error ?? new Error('The answer was cut'));
      } else if (out === undefined) {
        begin({ statusCode: 502, headers: {}, multiValueHeaders: {} }).end();
      }
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

function parseHead(statusCode: number, text: string): StreamHead {
  const head: StreamHead = { statusCode, headers: {}, multiValueHeaders: {} };
  const values = new Map<string, string[]>();
  for (const line of text.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (!OF_CONNECTION.has(name))
      values.set(name, [...(values.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  for (const [name, [first = '', ...more]] of values) {
    if (more.length === 0) head.headers[name] = first;
    else head.multiValueHeaders[name] = [first, ...more];
  }
  return head;
}
