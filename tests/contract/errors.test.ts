import { describe, expect, test } from '@jest/globals';
import { clientOf, servers } from '../helpers/contract.ts';
import { BODY_LIMIT } from '../helpers/contract-servers.ts';
import type { Answer } from '../helpers/http.ts';
import { ADMIN_KEY } from '../helpers/hub-process.ts';

const admin = { 'x-admin-key': ADMIN_KEY };

/** The error of an answer, after a look at everything that every error answer has. */
function errorOf(answer: Answer): Record<string, unknown> {
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['x-request-id']).toMatch(/./);
  const body = answer.json();
  expect(Object.keys(body)).toEqual(['error']);
  expect(body.error).toEqual(
    expect.objectContaining({
      message: expect.any(String),
      type: expect.any(String),
      code: expect.any(String),
    }),
  );
  return body.error;
}

describe.each(servers)('$name', (server) => {
  const ask = clientOf(server);

  test.each(['/', '/nothing', '/nothing/at/all', '/healthy', '/health/more', '/v2/chat/completions'])(
    'the unknown path %s is 404 not_found [C3-not-found, C3-error-shape, C11-catch-all]',
    async (path) => {
      const answer = await ask(path);
      expect(answer.status).toBe(404);
      expect(errorOf(answer)).toMatchObject({ code: 'not_found', type: 'not_found_error' });
    },
  );

  test('an unknown path under a prefix of a group is 404 in the same shape [C3-not-found, C11-catch-all]', async () => {
    for (const path of ['/v1/nothing', '/mcp/nothing']) {
      const answer = await ask(path);
      expect(answer.status).toBe(404);
      expect(errorOf(answer).code).toBe('not_found');
    }
    const answer = await ask('/admin/nothing', { headers: admin });
    expect(answer.status).toBe(404);
    expect(errorOf(answer).code).toBe('not_found');
  });

  test.each([
    ['DELETE', '/health', {}, ['GET', 'HEAD', 'OPTIONS']],
    ['POST', '/ready', {}, ['GET', 'HEAD', 'OPTIONS']],
    ['GET', '/mcp/invoke', {}, ['POST', 'OPTIONS']],
    ['GET', '/v1/chat/completions', {}, ['POST', 'OPTIONS']],
    ['PUT', '/admin/runtime', admin, ['GET', 'HEAD', 'OPTIONS']],
  ])(
    'the wrong method %s on the known path %s is 405 with Allow [C3-method-not-allowed, C11-catch-all]',
    async (method, path, headers, allowed) => {
      const answer = await ask(path, { method, headers });
      expect(answer.status).toBe(405);
      expect(errorOf(answer)).toMatchObject({ code: 'method_not_allowed', type: 'invalid_request_error' });
      expect(answer.headers.allow?.split(/,\s*/).sort()).toEqual([...allowed].sort());
    },
  );

  test('under a protected prefix even an unknown path asks for credentials first [C3-auth-first, C11-catch-all]', async () => {
    for (const path of ['/admin', '/admin/nothing', '/admin/runtime/nothing', '/admin/config/nothing']) {
      const answer = await ask(path);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(errorOf(answer).code).toBe('admin_unauthorized');
    }
    const wrongMethod = await ask('/admin/runtime', { method: 'DELETE' });
    expect(wrongMethod.status).toBe(401);
  });

  test.each([
    ['cut off', '{"tool":"echo",'],
    ['no JSON at all', 'tool=echo'],
    ['with a trailing comma', '{"tool":"echo",}'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ])('a body that is %s is 400 invalid_json [C3-invalid-json]', async (_what, body) => {
    const headers = { 'content-type': 'application/json', 'x-target': 'everything' };
    const answer = await ask('/mcp/invoke', { body, headers });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_json', type: 'invalid_request_error' });
  });

  test('a field of the wrong type is 400 invalid_request and names it [C3-invalid-request]', async () => {
    const headers = { 'x-target': 'everything' };
    const answer = await ask('/mcp/invoke', { json: { tool: 7, arguments: {} }, headers });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param: 'tool' });
  });

  test('a body at the limit passes and one over it is 413 body_too_large [C3-body-too-large, C2-json-body]', async () => {
    const body = (length: number) => {
      const frame = JSON.stringify({ tool: 'nothing', arguments: { text: '' } });
      return frame.replace('""', `"${'x'.repeat(length - frame.length)}"`);
    };
    const headers = { 'content-type': 'application/json', 'x-target': 'everything' };
    const atLimit = await ask('/mcp/invoke', { body: body(BODY_LIMIT), headers });
    expect(atLimit.status).toBe(404);
    const over = await ask('/mcp/invoke', { body: body(BODY_LIMIT + 1), headers });
    expect(over.status).toBe(413);
    expect(errorOf(over)).toMatchObject({ code: 'body_too_large', type: 'invalid_request_error' });
  });

  test('a body of unknown length over the limit is 413 too [C3-body-too-large]', async () => {
    const headers = {
      'content-type': 'application/json',
      'x-target': 'everything',
      'transfer-encoding': 'chunked',
    };
    const answer = await ask('/mcp/invoke', { body: 'x'.repeat(BODY_LIMIT * 2), headers });
    expect(answer.status).toBe(413);
    expect(errorOf(answer).code).toBe('body_too_large');
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'a body of type %s is 415 unsupported_media_type [C3-unsupported-media-type]',
    async (contentType) => {
      const headers = { 'content-type': contentType, 'x-target': 'everything' };
      const answer = await ask('/mcp/invoke', { body: '{"tool":"echo"}', headers });
      expect(answer.status).toBe(415);
      expect(errorOf(answer)).toMatchObject({
        code: 'unsupported_media_type',
        type: 'invalid_request_error',
      });
    },
  );

  test('a body without a type is 415 too [C3-unsupported-media-type]', async () => {
    const answer = await ask('/mcp/invoke', {
      body: '{"tool":"echo"}',
      headers: { 'x-target': 'everything' },
    });
    expect(answer.status).toBe(415);
  });

  test('a JSON type with a charset or a +json suffix is JSON [C3-unsupported-media-type]', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8', 'x-target': 'everything' };
    const answer = await ask('/mcp/invoke', { body: '{"tool":"nothing"}', headers });
    expect(answer.status).toBe(404);
  });

  test('a POST without a body is never 415 [C3-no-body-no-415]', async () => {
    const untyped = await ask('/auth/logout', { method: 'POST' });
    expect(untyped.status).toBe(200);
    const typed = await ask('/auth/logout', { method: 'POST', headers: { 'content-type': 'text/plain' } });
    expect(typed.status).toBe(200);
    const invoke = await ask('/mcp/invoke', { method: 'POST', headers: { 'x-target': 'everything' } });
    expect(invoke.status).toBe(400);
  });

  test('the type of an error is the family of its code [C3-error-types]', async () => {
    const types = {
      invalid_request_error: await ask('/mcp/invoke', { json: {} }),
      authentication_error: await ask('/admin/runtime'),
      not_found_error: await ask('/nothing'),
      upstream_error: await ask('/v1/chat/completions', {
        json: { messages: [] },
        headers: { 'x-target': 'nobody' },
      }),
    };
    for (const [type, answer] of Object.entries(types)) expect(errorOf(answer).type).toBe(type);
  });

  test('an upstream host and its key never appear in a body [C3-no-leaks, C5-err-5xx]', async () => {
    const json = { messages: [{ role: 'user', content: 'hello' }] };
    const answer = await ask('/v1/chat/completions', { json, headers: { 'x-target': 'nobody' } });
    expect(answer.status).toBe(502);
    expect(errorOf(answer)).toMatchObject({ code: 'upstream_unavailable', type: 'upstream_error' });
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|sk-upstream|\bat \w+ \(/);
  });
});
