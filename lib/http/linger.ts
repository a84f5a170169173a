import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { awaitsContinue } from './expect-continue.ts';

/** A refused body up to this size is read away and the connection kept. */
const KEEP_ALIVE_BYTES = 256 * 1024;
/** How long a caller may go on sending after the answer, and how long it may fall silent, in ms. */
const LINGER_TOTAL = 10_000;
const LINGER_SILENCE = 2000;

/**
 * Answers a request whose body may still be on its way. Closing at once would reset the connection, and a caller
 * that is still sending would see that reset instead of the answer. So the answer goes out whole, then the rest of
 * the body is read away for a bounded time, then the connection closes (RFC 9112 §9.6).
 */
export function endRefused(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: { status: number; headers: OutgoingHttpHeaders; body: string },
): void {
  const isUnsent = awaitsContinue(request);
  if (!(isUnsent || isLongBody(request)) || !(request.socket instanceof Socket)) {
    response.writeHead(status, headers);
    response.end(body);
    request.resume();
    return;
  }
  response.writeHead(status, { ...headers, connection: 'close' });
  if (request.method !== 'HEAD') response.write(body);
  if (isUnsent) response.end();
  else readAway(request, () => response.end());
}

/** Whether much may still come: a long or unknown length that has not arrived yet. */
function isLongBody(request: IncomingMessage): boolean {
  if (request.complete) return false;
  if (request.headers['transfer-encoding'] !== undefined) return true;
  return Number(request.headers['content-length'] ?? 0) > KEEP_ALIVE_BYTES;
}

/** Discards what comes until it ends, falls silent or takes too long, then calls `done` once. */
export function readAway(request: IncomingMessage, done: () => void): void {
  const finish = () => {
    clearTimeout(total);
    clearTimeout(silence);
    request.off('data', onData);
    request.off('end', finish);
    request.off('close', finish);
    done();
  };
  const onData = () => silence.refresh();
  const total = setTimeout(finish, LINGER_TOTAL).unref();
  const silence = setTimeout(finish, LINGER_SILENCE).unref();
  request.on('data', onData);
  request.once('end', finish);
  request.once('close', finish);
  request.resume();
}
