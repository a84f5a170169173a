import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { sendJson } from '../../../lib/http/json-response.ts';
import type { RouteGroup } from '../../../lib/http/route.ts';
import { setHandlerEnvironment } from './handler-environment.ts';

setHandlerEnvironment();
// The configuration is read when a handler is made.
const { createHandler } = await import('../../../handlers/adapter.ts');

const group: RouteGroup = {
  name: 'sample',
  prefixes: [],
  routes: [
    {
      method: 'ALL',
      path: '/mirror/*rest',
      access: 'public',
      async handler(request, response) {
        departure = request.hub.signal;
        const body = await buffer(request);
        const { headers, method, url, hub } = request;
        sendJson(response, 200, { method, url, headers, body: body.toString('hex'), clientIp: hub.clientIp });
      },
    },
    {
      method: 'GET',
      path: '/bytes',
      access: 'public',
      handler(_request, response) {
        response.writeHead(200, ['content-type', 'image/png', 'set-cookie', 'a=1', 'set-cookie', 'b=2']);
        response.end(Buffer.from([0, 255, 254, 10]));
      },
    },
    {
      method: 'POST',
      path: '/ends',
      access: 'public',
      handler(request, response) {
        let ends = 0;
        request.on('end', () => {
          ends += 1;
        });
        request.resume();
        setTimeout(() => sendJson(response, 200, { ends }), 20);
      },
    },
    {
      method: 'GET',
      path: '/encodings',
      access: 'public',
      handler(_request, response) {
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.write('\xff-', 'latin1');
        response.write('é-');
        response.write('fe', 'hex');
        response.end(Buffer.from([0xfd]));
      },
    },
    {
      method: 'GET',
      path: '/cut',
      access: 'public',
      handler(_request, response) {
        response.writeHead(200, { 'content-type': 'application/octet-stream' });
        response.write('half');
        response.destroy();
      },
    },
  ],
};
const handler = createHandler(() => [group]);
/** The departure signal of the last mirrored request. */
let departure: AbortSignal | undefined;

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  multiValueHeaders?: Record<string, string[]>;
  cookies?: string[];
  body: string;
  isBase64Encoded?: boolean;
}

function restEvent(event: Partial<APIGatewayProxyEvent>): APIGatewayProxyEvent {
  return {
    httpMethod: 'GET',
    path: '/mirror/a',
    headers: {},
    multiValueHeaders: {},
    body: null,
    isBase64Encoded: false,
    requestContext: { identity: { sourceIp: '203.0.113.9' }, requestId: 'aws-request-id' },
    ...event,
  } as APIGatewayProxyEvent;
}

function httpEvent(event: Partial<APIGatewayProxyEventV2>): APIGatewayProxyEventV2 {
  return {
    version: '2.0',
    rawPath: '/mirror/a',
    rawQueryString: '',
    headers: {},
    isBase64Encoded: false,
    requestContext: { http: { method: 'GET', sourceIp: '203.0.113.9' }, requestId: 'aws-request-id' },
    ...event,
  } as APIGatewayProxyEventV2;
}

async function answerTo(event: APIGatewayProxyEvent | APIGatewayProxyEventV2): Promise<Answer> {
  return (await handler(event, {})) as Answer;
}

const bytesOf = (answer: Answer) => Buffer.from(answer.body, answer.isBase64Encoded ? 'base64' : 'utf8');
const jsonOf = (answer: Answer) => JSON.parse(bytesOf(answer).toString());

test('an event of a REST API becomes a request: method, path, query, headers, body and client', async () => {
  const answer = await answerTo(
    restEvent({
      httpMethod: 'POST',
      path: '/mirror/a%2Fb',
      multiValueQueryStringParameters: { q: ['1', '2'] },
      multiValueHeaders: { 'X-Target': ['echo'], Accept: ['a/b', 'c/d'] },
      body: Buffer.from([0xff, 0x00, 0x7b]).toString('base64'),
      isBase64Encoded: true,
    }),
  );
  expect(answer.statusCode).toBe(200);
  const request = jsonOf(answer);
  expect(request).toMatchObject({ method: 'POST', url: '/mirror/a%2Fb?q=1&q=2', body: 'ff007b' });
  expect(request.headers).toMatchObject({ 'x-target': 'echo', accept: 'a/b, c/d', 'content-length': '3' });
  expect(request.clientIp).toBe('203.0.113.9');
});

test('an event of an HTTP API becomes the same request', async () => {
  const answer = await answerTo(
    httpEvent({
      rawQueryString: 'q=1&q=2',
      headers: { 'x-target': 'echo' },
      cookies: ['a=1', 'b=2'],
      body: '{"é":1}',
      requestContext: { http: { method: 'PUT', sourceIp: '203.0.113.9' } } as never,
    }),
  );
  const request = jsonOf(answer);
  expect(request).toMatchObject({ method: 'PUT', url: '/mirror/a?q=1&q=2', clientIp: '203.0.113.9' });
  expect(Buffer.from(request.body, 'hex').toString()).toBe('{"é":1}');
  expect(request.headers).toMatchObject({ 'x-target': 'echo', cookie: 'a=1; b=2', 'content-length': '8' });
});

test('a header that the platform made up is not taken for the caller’s', async () => {
  const answer = await answerTo(
    restEvent({
      httpMethod: 'POST',
      headers: { 'Content-Type': 'application/json', Host: 'hub' },
      multiValueHeaders: { Host: ['hub'] },
      body: 'x',
    }),
  );
  expect(jsonOf(answer).headers['content-type']).toBeUndefined();
});

test('a request without a body has none and no length', async () => {
  for (const event of [restEvent({ httpMethod: 'POST' }), httpEvent({})]) {
    const request = jsonOf(await answerTo(event));
    expect(request.body).toBe('');
    expect(request.headers['content-length']).toBeUndefined();
  }
});

test('the body of a request ends once, also where there is none', async () => {
  for (const body of [null, 'x']) {
    const answer = await answerTo(restEvent({ httpMethod: 'POST', path: '/ends', body }));
    expect(jsonOf(answer)).toEqual({ ends: 1 });
  }
});

test('repeated headers of a request arrive merged [C11-merged-headers]', async () => {
  const multiValueHeaders = { 'X-A': ['1'], 'x-a': ['2', '3'], Cookie: ['a=1', 'b=2'] };
  const { headers } = jsonOf(await answerTo(restEvent({ multiValueHeaders })));
  expect(headers).toMatchObject({ 'x-a': '1, 2, 3', cookie: 'a=1; b=2' });
});

test('a finished answer is no caller that left', async () => {
  await answerTo(restEvent({}));
  expect(departure?.aborted).toBe(false);
});

test('binary answers and repeated Set-Cookie headers arrive whole', async () => {
  const rest = await answerTo(restEvent({ path: '/bytes' }));
  expect(bytesOf(rest)).toEqual(Buffer.from([0, 255, 254, 10]));
  expect(rest.multiValueHeaders?.['set-cookie']).toEqual(['a=1', 'b=2']);
  const http = await answerTo(httpEvent({ rawPath: '/bytes' }));
  expect(bytesOf(http)).toEqual(Buffer.from([0, 255, 254, 10]));
  expect(http.cookies).toEqual(['a=1', 'b=2']);
});

test('texts leave in the encoding in which they were written', async () => {
  const answer = await answerTo(restEvent({ path: '/encodings' }));
  expect(bytesOf(answer).toString('hex')).toBe('ff2dc3a92dfefd');
});

test('what no route takes is 404 in the shape of all errors [C11-catch-all, C3-not-found]', async () => {
  const answer = await answerTo(restEvent({ path: '/nothing' }));
  expect(answer.statusCode).toBe(404);
  expect(jsonOf(answer)).toEqual({
    error: { message: expect.any(String), type: 'not_found_error', code: 'not_found' },
  });
  expect(answer.headers['x-request-id']).toBe('aws-request-id');
});

test('an answer that is cut in the middle is a clean 502, not a wait for the time-out', async () => {
  const answer = await answerTo(restEvent({ path: '/cut' }));
  expect(answer.statusCode).toBe(502);
  expect(JSON.parse(answer.body).error.code).toBe('upstream_unavailable');
});
