import { PassThrough, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { AwsLambda, StreamHead } from '../../../handlers/lambda/awslambda.ts';
import type { RouteGroup } from '../../../lib/http/route.ts';
import { until } from '../../helpers/until.ts';
import { setHandlerEnvironment } from './handler-environment.ts';

setHandlerEnvironment();

const heads: StreamHead[] = [];
/** Lambda's runtime, as far as a handler sees it. */
const awslambda = {
  streamifyResponse: (handler: unknown) => handler,
  HttpResponseStream: {
    from(out: Writable, head: StreamHead) {
      heads.push(head);
      return out;
    },
  },
} as unknown as AwsLambda;
Object.assign(globalThis, { awslambda });
const { createHandler } = await import('../../../handlers/adapter.ts');

/** Sends its second chunk only once it is told to. */
let goOn: (() => void) | undefined;
const group: RouteGroup = {
  name: 'sample',
  prefixes: [],
  routes: [
    {
      method: 'GET',
      path: '/stream',
      access: 'public',
      async handler(_request, response) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: 1\n\n');
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
        response.end('data: 2\n\n');
      },
    },
  ],
};
const event = {
  httpMethod: 'GET',
  path: '/stream',
  headers: {},
  multiValueHeaders: {},
  body: null,
  isBase64Encoded: false,
  requestContext: { identity: { sourceIp: '203.0.113.9' }, requestId: 'aws-request-id' },
};

test('where the platform streams, the first chunk leaves before the second exists', async () => {
  const handler = createHandler(() => [group], { streams: true }) as (
    event: unknown,
    out: Writable,
    context: object,
  ) => Promise<unknown>;
  const out = new PassThrough();
  const ended = handler(event, out, {});
  const first = await new Promise((resolve) => out.once('data', resolve));
  expect(String(first)).toBe('data: 1\n\n');
  expect(heads).toHaveLength(1);
  expect(heads[0]).toMatchObject({ statusCode: 200, headers: { 'content-type': 'text/event-stream' } });
  const rest = text(out);
  goOn?.();
  expect(await rest).toBe('data: 2\n\n');
  await ended;
});

test('where it has the wrapper but calls without a stream, the whole answer is returned', async () => {
  goOn = undefined;
  const handler = createHandler(() => [group], { streams: true });
  const answer = handler(event as never, {}) as Promise<{ statusCode: number; body: string }>;
  (await until('the first chunk', () => goOn))();
  const { statusCode, body } = await answer;
  expect(statusCode).toBe(200);
  expect(Buffer.from(body, 'base64').toString()).toBe('data: 1\n\ndata: 2\n\n');
});
