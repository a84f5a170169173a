import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { clientOf, closedServers, servers } from '../helpers/contract.ts';

describe.each([...servers, ...closedServers])('$name, authentication $auth', (server) => {
  const ask = clientOf(server);

  test('the API docs are a page that needs nothing but the hub [C10-page, S2.1-swagger-enabled]', async () => {
    const page = await ask('/docs');
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.headers['content-security-policy']).toMatch(/script-src 'sha256-.*frame-ancestors 'none'/);
    expect(page.text).not.toMatch(/(?:src|href)=["']?https?:/);
    expect((await ask('/docs/')).status).toBe(200);
  });

  test('the document is OpenAPI 3.1 in JSON [C10-openapi]', async () => {
    const answer = await ask('/docs/openapi.json');
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(answer.json().openapi).toMatch(/^3\.1\./);
  });

  test('below and beside the docs errors keep their shape [C3-not-found, C3-method-not-allowed]', async () => {
    const unknown = await ask('/docs/nothing');
    expect([unknown.status, unknown.json().error.code]).toEqual([404, 'not_found']);
    const wrong = await ask('/docs', { method: 'POST' });
    expect([wrong.status, wrong.headers.allow, wrong.json().error.code]).toEqual([
      405,
      'GET, HEAD, OPTIONS',
      'method_not_allowed',
    ]);
  });

  test.each(['/docs', '/admin/panel'])(
    '%s comes compressed, whole, and not at all where it is known',
    async (path) => {
      const plain = await ask(path);
      const zipped = await ask(path, { headers: { 'accept-encoding': 'gzip' } });
      expect(zipped.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
      const known = await ask(path, { headers: { 'if-none-match': String(plain.headers.etag) } });
      expect([known.status, known.body.length]).toEqual([304, 0]);
    },
  );
});
