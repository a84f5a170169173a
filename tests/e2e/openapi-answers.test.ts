import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ApiDocument, readApiDocument } from '../helpers/api-document.ts';
import { FAKE_S3_ENV } from '../helpers/fake-s3.ts';
import { send } from '../helpers/http.ts';
import { ADMIN_KEY } from '../helpers/hub-process.ts';
import { type PanelHub, startPanelHub } from '../helpers/panel-hub.ts';

let panelHub: PanelHub;
let api: ApiDocument;

beforeAll(async () => {
  panelHub = await startPanelHub({
    env: FAKE_S3_ENV,
    config: {
      swagger: { enabled: true, path: 'api/docs' },
      videohost: {
        // A place is made without a word to S3.
        staging: { bucket: 'stage', region: 'eu-test-1', endpoint: 'http://127.0.0.1:9' },
        accounts: [
          {
            id: 'main',
            client_id: 'client',
            client_secret: 'video-client-secret-0123456789',
            redirect_uri: 'http://localhost:3000/videohost/auth/idp/callback?target=main',
          },
        ],
      },
    },
  });
  await panelHub.makeTraffic();
  api = readApiDocument((await send(`${panelHub.hub.url}/api/docs/openapi.json`)).json());
}, 120_000);
afterAll(() => panelHub?.stop());

const admin = { 'x-admin-key': ADMIN_KEY };
const messages = [{ role: 'user', content: 'hello' }];
const to = (target: string) => ({ 'x-target': target });

interface Example {
  method: 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH';
  /** As in the document. */
  path: string;
  /** What is asked for, where the path has parameters or a query. */
  url?: string;
  status: number;
  headers?: Record<string, string>;
  json?: unknown;
}

const get = (path: string, status: number, more: Partial<Example> = {}): Example => ({
  method: 'GET',
  path,
  status,
  ...more,
});
const post = (path: string, status: number, more: Partial<Example> = {}): Example => ({
  ...get(path, status, more),
  method: 'POST',
});

/** At least one answer of every route, and the failures that callers meet most. */
const EXAMPLES: Example[] = [
  post('/v1/chat/completions', 200, { json: { messages }, headers: to('echo') }),
  post('/v1/chat/completions', 200, { json: { messages, stream: true }, headers: to('writer') }),
  post('/v1/chat/completions', 400, { json: { messages } }),
  post('/v1/chat/completions', 404, { json: { messages }, headers: to('nobody') }),
  post('/v1/completions', 404, { json: { prompt: 'x' }, headers: to('nobody') }),
  post('/v1/embeddings', 200, { json: { input: 'x' }, headers: to('echo') }),
  post('/v1/embeddings', 404, { json: { input: 'x' }, headers: to('nobody') }),
  post('/v1/responses', 404, { json: { input: 'x' }, headers: to('nobody') }),
  get('/v1/models', 200),
  get('/v1/models/{id}', 200, { url: '/v1/models/echo' }),
  get('/v1/models/{id}', 404, { url: '/v1/models/nobody' }),
  get('/mcp/tools', 200),
  get('/mcp/tools', 404, { url: '/mcp/tools?server=nobody' }),
  post('/mcp/invoke', 200, {
    json: { tool: 'echo', arguments: { message: 'x' } },
    headers: to('everything'),
  }),
  post('/mcp/invoke', 200, {
    json: { tool: 'get-structured-content', arguments: { location: 'Chicago' } },
    headers: to('everything'),
  }),
  post('/mcp/invoke', 400, { json: {}, headers: to('everything') }),
  post('/mcp/invoke', 404, { json: { tool: 'none' }, headers: to('everything') }),
  get('/mcp/stats', 200),
  post('/mcp', 400, { json: [] }),
  get('/mcp', 404, { headers: { 'mcp-session-id': 'nobody', accept: 'text/event-stream' } }),
  { method: 'DELETE', path: '/mcp', status: 404, headers: { 'mcp-session-id': 'nobody' } },
  get('/videohost/auth/idp', 200, { headers: to('main') }),
  get('/videohost/auth/idp', 404, { headers: to('nobody') }),
  get('/videohost/auth/idp/callback', 400, {
    url: '/videohost/auth/idp/callback?target=main&code=x&state=y',
  }),
  get('/videohost/auth/status', 200, { headers: to('main') }),
  post('/videohost/auth/logout', 200, { headers: to('main') }),
  post('/videohost/staging', 201, { headers: to('main') }),
  post('/videohost/staging', 404, { headers: to('nobody') }),
  post('/videohost/upload', 401, {
    headers: { ...to('main'), 'content-type': 'multipart/form-data; boundary=x' },
  }),
  get('/videohost/uploads', 200),
  get('/videohost/uploads/{uploadId}', 404, { url: '/videohost/uploads/0' }),
  { method: 'DELETE', path: '/videohost/uploads/{uploadId}', url: '/videohost/uploads/0', status: 404 },
  ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) => ({
    method,
    path: '/proxy/{id}/{rest}',
    url: '/proxy/nobody/x',
    status: 404,
  })),
  post('/auth/logout', 200),
  get('/admin/panel', 200),
  get('/admin/runtime', 200, { headers: admin }),
  get('/admin/runtime', 401),
  get('/admin/runtime/usage', 200, { headers: admin }),
  get('/admin/config', 200, { headers: admin }),
  ...['targets', 'proxies', 'mcp', 'auth', 'hub'].map((name) =>
    get(`/admin/config/${name}`, 200, { headers: admin }),
  ),
  get('/metrics', 200, { headers: admin }),
  get('/metrics', 401),
  get('/health', 200),
  get('/ready', 200),
  post('/admin/runtime/reset', 200, { headers: admin }),
];

describe('real answers', () => {
  test.each(
    EXAMPLES.map(
      (example) => [`${example.method} ${example.url ?? example.path}`, example.status, example] as const,
    ),
  )(
    '%s, %i, is as the document says [C10-openapi]',
    async (_name, status, { method, path, url = path, headers, json }) => {
      const answer = await send(panelHub.hub.url + url, {
        method,
        headers: headers ?? {},
        ...(json !== undefined && { json }),
      });
      const contentType = String(answer.headers['content-type']);
      const body = contentType.startsWith('application/json') ? answer.json() : answer.text;
      expect([answer.status, body]).toEqual([status, expect.anything()]);
      expect(api.faultOf(method, path, { status, contentType, body })).toBeUndefined();
    },
  );

  test('are there for every operation of the document [C10-openapi]', () => {
    const documented = Object.entries<object>(api.json.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const shown = new Set(EXAMPLES.map(({ method, path }) => `${method} ${path}`));
    expect(documented.filter((operation) => !shown.has(operation))).toEqual([]);
  });
});

describe('request bodies', () => {
  test.each([
    ['/v1/chat/completions', { model: 'echo' }],
    ['/v1/chat/completions', { messages: 'hello' }],
    ['/v1/chat/completions', { messages, model: 7 }],
    ['/v1/chat/completions', { messages, stream: 'yes' }],
    ['/mcp/invoke', {}],
    ['/mcp/invoke', { tool: '' }],
    ['/mcp/invoke', { tool: 'echo', arguments: [] }],
  ])('of %s that the document forbids are refused by the hub: %j [C10-openapi]', async (path, body) => {
    expect(api.requestFaultOf('POST', path, body)).toBeDefined();
    const headers = { 'x-target': path === '/mcp/invoke' ? 'everything' : 'echo' };
    const answer = await send(panelHub.hub.url + path, { headers, json: body });
    expect([answer.status, answer.json().error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('the address of the docs', () => {
  test('is that of swagger.path, and the document tells where the hub is from there [S2.1-swagger-path, C10-page]', async () => {
    const page = await send(`${panelHub.hub.url}/api/docs`);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toMatch(/script-src 'sha256-/);
    expect(page.text).not.toMatch(/(?:src|href)=["']?https?:/);
    expect((await send(`${panelHub.hub.url}/docs`)).status).toBe(404);
    const server = new URL(api.json.servers[0].url, `${panelHub.hub.url}/api/docs/openapi.json`);
    expect(server.href).toBe(`${panelHub.hub.url}/`);
  });
});
