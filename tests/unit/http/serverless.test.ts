import { describe, expect, test } from '@jest/globals';
import serverlessHttp from 'serverless-http';
import { HubError } from '../../../lib/errors/hub-error.ts';
import { readJsonObject } from '../../../lib/http/body.ts';
import { sendJson } from '../../../lib/http/json-response.ts';
import { bearerOnly, group, makeApp } from './serve.ts';

const groups = [
  group(
    {
      method: 'POST',
      path: '/v1/echo',
      async handler(request, response) {
        const body = await readJsonObject(request, { limit: 50 });
        sendJson(response, 200, { body, ip: request.hub.clientIp, id: request.hub.caller.id });
      },
    },
    {
      method: 'GET',
      path: '/v1/raw',
      handler: (_request, response) =>
        void response.writeHead(200, ['set-cookie', 'a=1', 'set-cookie', 'b=2', 'x-y', 'z']).end('raw'),
    },
    {
      method: 'GET',
      path: '/v1/fail',
      handler() {
        throw new HubError('upstream_timeout', 'Too slow');
      },
    },
  ),
];

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  cookies?: string[];
  body: string;
}

/** One event of an HTTP API (payload version 2), through the app as a Lambda handler wraps it. */
async function invoke(method: string, path: string, headers: Record<string, string>, body = '') {
  const { app, records } = makeApp(groups, { bindHost: undefined, deps: { authenticator: bearerOnly } });
  const event = {
    version: '2.0',
    rawPath: path,
    rawQueryString: '',
    headers,
    body,
    isBase64Encoded: false,
    requestContext: { requestId: 'aws-id', http: { method, sourceIp: '9.9.9.9' } },
  };
  const answer = (await serverlessHttp(app)(event, {})) as Answer;
  return { ...answer, records };
}

const good = { authorization: 'Bearer good', 'content-type': 'application/json' };

describe('the same app under serverless-http', () => {
  test('reads the body, knows the caller and carries the common headers', async () => {
    const body = '{"a":"ü"}';
    const answer = await invoke('POST', '/v1/echo', { ...good, 'content-length': '10' }, body);
    expect(answer.statusCode).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ body: { a: 'ü' }, ip: '9.9.9.9', id: 'anna' });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "frame-ancestors 'none'",
      'x-request-id': 'aws-id',
    });
    expect(answer.headers['x-powered-by']).toBeUndefined();
    expect(answer.records.map(({ type, fields }) => [type, fields.status, fields.clientIp])).toEqual([
      ['access', 200, '9.9.9.9'],
    ]);
  });

  test('raw heads keep their repeated headers', async () => {
    const answer = await invoke('GET', '/v1/raw', good);
    expect([answer.statusCode, answer.body, answer.headers['x-y']]).toEqual([200, 'raw', 'z']);
    expect(JSON.stringify(answer)).toMatch(/a=1.*b=2/);
  });

  test.each([
    ['POST', '/v1/echo', {}, '', 401, 'unauthorized'],
    ['GET', '/v1/nothing', good, '', 404, 'not_found'],
    ['PUT', '/v1/echo', good, '', 405, 'method_not_allowed'],
    ['POST', '/v1/echo', good, '{', 400, 'invalid_json'],
    ['POST', '/v1/echo', good, `"${'x'.repeat(60)}"`, 413, 'body_too_large'],
    [
      'POST',
      '/v1/echo',
      { authorization: 'Bearer good', 'content-type': 'text/plain' },
      'x',
      415,
      'unsupported_media_type',
    ],
    ['GET', '/v1/fail', good, '', 504, 'upstream_timeout'],
  ] as const)('%s %s with %j %s is %i %s', async (method, path, headers, body, status, code) => {
    const answer = await invoke(method, path, { ...headers, 'content-length': String(body.length) }, body);
    expect([answer.statusCode, JSON.parse(answer.body).error.code]).toEqual([status, code]);
  });
});
