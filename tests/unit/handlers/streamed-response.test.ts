import { IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { StreamHead } from '../../../handlers/lambda/awslambda.ts';
import { createStreamedResponse } from '../../../handlers/lambda/streamed-response.ts';
import { until } from '../../helpers/until.ts';

/** A stream as Lambda gives one: takes a chunk when `release` says so. */
function slowSink() {
  const chunks: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 4,
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk.toString());
      waiting.push(done);
    },
  });
  return { stream, chunks, release: () => waiting.shift()?.() };
}

function respond(): { response: ServerResponse; heads: StreamHead[]; sink: ReturnType<typeof slowSink> } {
  const heads: StreamHead[] = [];
  const sink = slowSink();
  const response = createStreamedResponse(new IncomingMessage(new Socket()), (head) => {
    heads.push(head);
    return sink.stream;
  });
  return { response, heads, sink };
}

test('the head goes out as an object and the body as the bytes that were written', async () => {
  const { response, heads, sink } = respond();
  response.setHeader('set-cookie', ['a=1', 'b=2']);
  response.writeHead(201, { 'content-type': 'text/event-stream' });
  response.write('data: é\n\n');
  await until('the first chunk', () => sink.chunks.length === 1);
  expect(heads).toEqual([
    {
      statusCode: 201,
      headers: { 'content-type': 'text/event-stream' },
      multiValueHeaders: { 'set-cookie': ['a=1', 'b=2'] },
    },
  ]);
  expect(sink.chunks).toEqual(['data: é\n\n']);
  sink.release();
  response.end('data: [DONE]\n\n');
  await until('the second chunk', () => sink.chunks.length === 2);
  sink.release();
  await until('the end', () => sink.stream.writableFinished);
  expect(sink.chunks.join('')).toBe('data: é\n\ndata: [DONE]\n\n');
});

test('an answer without a body still gives its head', async () => {
  const { response, heads, sink } = respond();
  response.writeHead(204, { allow: 'GET' });
  response.end();
  await until('the end', () => sink.stream.writableFinished);
  expect(heads).toEqual([{ statusCode: 204, headers: { allow: 'GET' }, multiValueHeaders: {} }]);
  expect(sink.chunks).toEqual([]);
});

test('a slow reader holds the writer back, and its drain lets it go on', async () => {
  const { response, sink } = respond();
  response.writeHead(200, {});
  let drained = false;
  response.once('drain', () => {
    drained = true;
  });
  // More than a stream holds by default: 16 KiB up to Node 20, 64 KiB since.
  const chunk = 'x'.repeat(100_000);
  expect(response.write(chunk)).toBe(false);
  await until('the chunk at the reader', () => sink.chunks.length === 1);
  expect(drained).toBe(false);
  sink.release();
  await until('drain', () => drained);
});

test('a response that is cut before anything was sent is a 502', async () => {
  const { response, heads, sink } = respond();
  response.destroy();
  await until('the end', () => sink.stream.writableFinished);
  expect(heads.map((head) => head.statusCode)).toEqual([502]);
});

test('a response that is cut cuts the stream, and one that finished closes', async () => {
  const cut = respond();
  cut.response.writeHead(200, {});
  cut.response.write('half');
  cut.sink.stream.on('error', () => {});
  await until('the half', () => cut.sink.chunks.length === 1);
  cut.response.destroy();
  await until('the stream destroyed', () => cut.sink.stream.destroyed);

  const whole = respond();
  let closed = false;
  whole.response.once('close', () => {
    closed = whole.response.writableFinished;
  });
  whole.response.end();
  await until('close after finish', () => closed);
});
