import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { readAway } from '../../../lib/http/linger.ts';
import { RequestBody } from '../../../lib/proxy/request-body.ts';
import { until } from '../../helpers/until.ts';

const piece = Buffer.alloc(64 * 1024);

/** A body of which nothing has been read yet, and what arrives of its request. */
function bodyOf(): { body: RequestBody; arriving: PassThrough; request: IncomingMessage } {
  const arriving = new PassThrough({ highWaterMark: 1024 * 1024 });
  const request = arriving as unknown as IncomingMessage;
  return { body: new RequestBody(request, 60_000), arriving, request };
}

test('a body that is full when its service is through with it holds nobody up who reads the rest away', async () => {
  const { body, arriving, request } = bodyOf();
  body.read(0);
  // The service has answered, and what still comes is to be read away: but it comes to the body, too, and fills it.
  let isReadAway = false;
  readAway(request, () => {
    isReadAway = true;
  });
  for (let count = 0; count < 4; count += 1) arriving.write(piece);
  await until('the body is full', () => request.isPaused());
  body.destroy();
  arriving.end(piece);
  await until('the rest is read away', () => isReadAway);
  expect(arriving.readableEnded).toBe(true);
});

test('a body that nobody wants any more leaves the rest of its request where it is', async () => {
  const { body, arriving, request } = bodyOf();
  body.read(0);
  arriving.write(piece);
  await until('the first piece', () => body.readableLength > 0);
  body.destroy();
  expect(request.isPaused()).toBe(true);
});
