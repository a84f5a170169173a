import { afterEach, describe, expect, test } from '@jest/globals';
import { HubError } from '../../../lib/errors/hub-error.ts';
import type { RouteHandler } from '../../../lib/http/route.ts';
import { send } from '../../helpers/http.ts';
import { closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

const failing = (handler: RouteHandler) => [group({ method: 'GET', path: '/v1/fail', handler })];

describe('failures', () => {
  test('an error has one shape, with what the caller may know [C3-error-shape C3-error-types]', async () => {
    const { url, records } = await serve(
      failing(() => {
        throw new HubError('invalid_request', 'No such colour', {
          param: 'colour',
          details: { known: ['red'] },
          extra: { hint: 'take red' },
          headers: { 'x-hint': 'red' },
        });
      }),
    );
    const { status, headers, json } = await send(`${url}/v1/fail`);
    expect([status, headers['content-type'], headers['x-hint']]).toEqual([
      400,
      'application/json; charset=utf-8',
      'red',
    ]);
    expect(json()).toEqual({
      error: {
        message: 'No such colour',
        type: 'invalid_request_error',
        code: 'invalid_request',
        param: 'colour',
        details: { known: ['red'] },
        hint: 'take red',
      },
    });
    expect(records.filter(({ type }) => type === 'error')).toEqual([]);
  });

  test.each<[string, RouteHandler]>([
    [
      'thrown',
      () => {
        throw new Error('password=hunter2 at 10.1.2.3');
      },
    ],
    ['rejected', () => Promise.reject(new Error('password=hunter2 at 10.1.2.3'))],
    [
      'thrown late',
      async () => {
        await new Promise((resolve) => setImmediate(resolve));
        throw new TypeError('password=hunter2 at 10.1.2.3');
      },
    ],
  ])(
    'an unexpected error %s is a 500 that tells nothing, and one record that tells all [C3-500-silent C3-no-leaks]',
    async (_how, handler) => {
      const { url, records } = await serve(failing(handler));
      const { status, text, json } = await send(`${url}/v1/fail`, { headers: { 'x-request-id': 'r-1' } });
      expect([status, json().error.code, json().error.type]).toEqual([500, 'internal_error', 'server_error']);
      expect(text).not.toMatch(/hunter2|10\.1\.2\.3|\.ts|node:/);
      const errors = records.filter(({ type }) => type === 'error');
      expect(errors).toHaveLength(1);
      expect(errors[0]?.level).toBe('error');
      expect(errors[0]?.fields).toMatchObject({ requestId: 'r-1', code: 'internal_error', status: 500 });
      expect(errors[0]?.fields.cause).toMatch(/hunter2[\s\S]+\.ts/);
    },
  );

  test('headers prepared for a success do not stay on the error', async () => {
    const { url } = await serve(
      failing((_request, response) => {
        response.set({ 'content-type': 'video/mp4', 'content-length': '9999', etag: '"x"' });
        throw new HubError('upstream_unavailable', 'The service is down');
      }),
    );
    const { status, headers, json } = await send(`${url}/v1/fail`);
    expect([status, headers['content-type'], headers.etag]).toEqual([
      502,
      'application/json; charset=utf-8',
      undefined,
    ]);
    expect(json().error.code).toBe('upstream_unavailable');
  });

  test('an answer that has begun ends broken, never with a second answer', async () => {
    const { url, records } = await serve(
      failing(async (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' });
        response.write('half');
        await new Promise((resolve) => setImmediate(resolve));
        throw new Error('lost');
      }),
    );
    await expect(send(`${url}/v1/fail`)).rejects.toThrow('aborted');
    expect(records.filter(({ type }) => type === 'error')).toHaveLength(1);
    const access = records.find(({ type }) => type === 'access');
    expect(access?.fields).toMatchObject({ status: 200, aborted: true });
  });

  test('an error after a complete answer changes nothing', async () => {
    const { url } = await serve(
      failing(async (_request, response) => {
        response.end('done');
        throw new Error('afterwards');
      }),
    );
    expect((await send(`${url}/v1/fail`)).text).toBe('done');
  });

  test('configured secrets are cut out of error bodies [C3-no-leaks]', async () => {
    const { url } = await serve(
      failing(() => {
        throw new HubError('upstream_error', 'Refused key sk-very-secret');
      }),
      { deps: { mask: (text) => text.replaceAll('sk-very-secret', '[REDACTED]') } },
    );
    expect((await send(`${url}/v1/fail`)).json().error.message).toBe('Refused key [REDACTED]');
  });
});

describe('the access record', () => {
  test('says who asked what and what became of it, without query and header values', async () => {
    const { url, records } = await serve([
      group({
        method: 'GET',
        path: '/v1/ok',
        handler(request, response) {
          request.hub.log.target = 'echo';
          response.end('fine');
        },
      }),
    ]);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await send(`${url}/v1/ok?code=secret`, {
      headers: { 'x-request-id': 'r-2', traceparent, authorization: 'Bearer secret', cookie: 'secret' },
    });
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      type: 'access',
      level: 'info',
      message: 'request',
      fields: {
        requestId: 'r-2',
        method: 'GET',
        path: '/v1/ok',
        status: 200,
        clientIp: '127.0.0.1',
        caller: 'ip:127.0.0.1',
        target: 'echo',
        traceId: '0af7651916cd43dd8448eb211c80319c',
      },
    });
    expect(records[0]?.fields.bytes).toBeGreaterThan(4);
    expect(records[0]?.fields.durationMs).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(records)).not.toContain('secret');
  });

  test('a malformed traceparent is nobody’s trace', async () => {
    const { url, records } = await serve([]);
    for (const traceparent of ['x', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, 'ff-1-2-3']) {
      await send(`${url}/x`, { headers: { traceparent } });
    }
    expect(records.map(({ fields }) => fields.traceId)).toEqual([undefined, undefined, undefined]);
  });
});
