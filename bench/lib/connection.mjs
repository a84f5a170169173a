/**
 * A small HTTP/1.1 client connection for load: one request at a time, written as prepared bytes, answers parsed in
 * place. An own one because undici's client costs as much as what is measured here.
 */
import { connect } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

/**
 * @param {{host: string, port: number}} address
 * @param {{onBody(part: Buffer): void, onEnd(status: number, reusable: boolean): void, onFail(error: Error): void}} events
 * `onFail` is called at most once, and only when the connection ends while an answer is awaited.
 * @returns {{send(bytes: Buffer): void, close(): void}}
 */
export function openConnection(address, events) {
  const socket = connect({ ...address, noDelay: true });
  let state = 'idle';
  let rest = null;
  let status = 0;
  let left = 0;
  let reusable = true;

  function readHead(head) {
    status = Number(head.slice(9, 12));
    reusable = !/\r\nconnection: close/i.test(head);
    if (/\r\ntransfer-encoding: chunked/i.test(head)) return 'size';
    const length = /\r\ncontent-length: (\d+)/i.exec(head);
    left = length ? Number(length[1]) : Number.POSITIVE_INFINITY;
    return 'body';
  }

  function finish() {
    state = 'idle';
    events.onEnd(status, reusable);
  }

  /** Reads one piece of an answer from `data` at `at`; the new position, or -1 when more bytes are needed. */
  function step(data, at) {
    if (state === 'head') {
      const end = data.indexOf(HEAD_END, at);
      if (end === -1) return -1;
      state = readHead(data.latin1Slice(at, end));
      if (state === 'body' && left === 0) finish();
      return end + 4;
    }
    if (state === 'size') {
      const end = data.indexOf(LINE_END, at);
      if (end === -1) return -1;
      left = Number.parseInt(data.latin1Slice(at, end), 16);
      state = left === 0 ? 'trailer' : 'chunk';
      return end + 2;
    }
    if (state === 'trailer') {
      const end = data.indexOf(LINE_END, at);
      if (end === -1) return -1;
      if (end === at) finish();
      return end + 2;
    }
    if (state === 'chunkEnd') {
      if (data.length - at < 2) return -1;
      state = 'size';
      return at + 2;
    }
    const end = Math.min(data.length, at + left);
    left -= end - at;
    events.onBody(data.subarray(at, end));
    if (left === 0 && state === 'chunk') state = 'chunkEnd';
    else if (left === 0) finish();
    return end;
  }

  socket.on('data', (chunk) => {
    const data = rest === null ? chunk : Buffer.concat([rest, chunk]);
    rest = null;
    let at = 0;
    while (at < data.length && state !== 'idle') {
      const next = step(data, at);
      if (next === -1) {
        rest = data.subarray(at);
        return;
      }
      at = next;
    }
  });

  let closed = false;
  function fail(error) {
    if (closed) return;
    closed = true;
    socket.destroy();
    if (state === 'body' && left === Number.POSITIVE_INFINITY) events.onEnd(status, false);
    else if (state !== 'idle') events.onFail(error);
  }
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('connection closed')));

  return {
    get open() {
      return !closed;
    },
    send(bytes) {
      state = 'head';
      rest = null;
      if (closed) queueMicrotask(() => events.onFail(new Error('connection closed')));
      else socket.write(bytes);
    },
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

/** The bytes of one POST with a JSON body. */
export function postBytes(path, headers, body) {
  const lines = Object.entries({ host: '127.0.0.1', 'content-type': 'application/json', ...headers });
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
