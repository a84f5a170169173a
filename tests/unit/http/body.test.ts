import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  type BodyOptions,
  parseJson,
  readBody,
  readJsonBody,
  readJsonObject,
} from '../../../lib/http/body.ts';
import { sendJson } from '../../../lib/http/json-response.ts';
import { send, sendRaw } from '../../helpers/http.ts';
import { bearerOnly, closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

const echo = (options: BodyOptions) => [
  group(
    {
      method: 'POST',
      path: '/v1/json',
      async handler(request, response) {
        sendJson(response, 200, await readJsonObject(request, options));
      },
    },
    {
      method: 'POST',
      path: '/v1/raw',
      async handler(request, response) {
        const body = await readBody(request, options);
        sendJson(response, 200, { bytes: body.length, text: body.toString('latin1').slice(0, 20) });
      },
    },
  ),
];
const JSON_TYPE = { 'content-type': 'application/json' };

describe('JSON bodies', () => {
  test.each([
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/vnd.api+json',
  ])('content type %s is read', async (type) => {
    const { url } = await serve(echo({ limit: 100 }));
    const answer = await send(`${url}/v1/json`, { body: '{"a":"ü"}', headers: { 'content-type': type } });
    expect(answer.json()).toEqual({ a: 'ü' });
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'application/json; charset=utf-16',
    'multipart/form-data',
    '',
  ])('content type "%s" is 415 [C3-unsupported-media-type]', async (type) => {
    const { url } = await serve(echo({ limit: 100 }));
    const answer = await send(`${url}/v1/json`, {
      body: '{}',
      headers: type ? { 'content-type': type } : {},
    });
    expect([answer.status, answer.json().error.code]).toEqual([415, 'unsupported_media_type']);
  });

  test('a body with a Content-Encoding is 415 [C3-unsupported-media-type]', async () => {
    const { url } = await serve(echo({ limit: 100 }));
    for (const [encoding, status] of [
      ['gzip', 415],
      ['identity', 200],
    ] as const) {
      const headers = { ...JSON_TYPE, 'content-encoding': encoding };
      expect((await send(`${url}/v1/json`, { body: '{}', headers })).status).toBe(status);
    }
  });

  test('a POST without a body is never 415 [C3-no-body-no-415]', async () => {
    const { url } = await serve(echo({ limit: 100 }));
    for (const headers of [{}, { 'content-type': 'text/plain' }, { 'content-length': '0' }]) {
      expect((await send(`${url}/v1/json`, { method: 'POST', headers })).status).toBe(200);
    }
  });

  test.each(['{', '', 'nul', '{"a":1}}', '\ufeff{}'])(
    '%j is 400 invalid_json, if it is a body at all [C3-invalid-json]',
    async (body) => {
      const { url } = await serve(echo({ limit: 100 }));
      const answer = await send(`${url}/v1/json`, { method: 'POST', body, headers: JSON_TYPE });
      expect(body === '' ? answer.status : [answer.status, answer.json().error.code]).toEqual(
        body === '' ? 200 : [400, 'invalid_json'],
      );
    },
  );

  test('invalid UTF-8 is invalid_json [C3-invalid-json]', async () => {
    const { url } = await serve(echo({ limit: 100 }));
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    expect((await send(`${url}/v1/json`, { body, headers: JSON_TYPE })).json().error.code).toBe(
      'invalid_json',
    );
    expect(() => parseJson(Buffer.from('"\xed\xa0\x80"', 'latin1'))).toThrow('UTF-8');
  });

  test.each(['[]', 'null', '1', '"x"'])('%s is not an object: 400', async (body) => {
    const { url } = await serve(echo({ limit: 100 }));
    const answer = await send(`${url}/v1/json`, { body, headers: JSON_TYPE });
    expect([answer.status, answer.json().error.code]).toEqual([400, 'invalid_request']);
  });
});

describe('size', () => {
  test('a body of exactly the limit passes, one byte more is 413 [C3-body-too-large]', async () => {
    const { url } = await serve(echo({ limit: 1000 }));
    expect((await send(`${url}/v1/raw`, { body: 'x'.repeat(1000) })).json().bytes).toBe(1000);
    const over = await send(`${url}/v1/raw`, { body: 'x'.repeat(1001) });
    expect([over.status, over.json().error.code, over.json().error.details]).toEqual([
      413,
      'body_too_large',
      { limit: 1000 },
    ]);
  });

  test('chunks are counted, and a body in pieces comes back whole', async () => {
    const { url } = await serve(echo({ limit: 10 }));
    const chunked = (chunks: string[]) =>
      sendRaw(
        url,
        `POST /v1/raw HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks
          .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
          .join('')}0\r\n\r\n`,
      );
    expect(await chunked(['abc', 'def', 'ghij'])).toContain('{"bytes":10,"text":"abcdefghij"}');
    expect(await chunked(['abc', 'def', 'ghijk'])).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('an announced length over the limit is refused before the body comes [C3-body-too-large]', async () => {
    const { url } = await serve(echo({ limit: 1000 }));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write(`POST /v1/raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n`);
    expect(await answer).toMatch(/^HTTP\/1\.1 413 [\s\S]+body_too_large/);
    socket.destroy();
  });

  test('a caller that is still sending sees the 413 whole, then the end of the connection [C3-body-too-large]', async () => {
    const { url } = await serve(echo({ limit: 1000 }));
    const size = 4 * 1024 * 1024;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.write(`POST /v1/raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n`);
    await once(socket, 'data');
    // `once` rejects on a reset, which is what a server that closed at once would send.
    socket.write(Buffer.alloc(size, 120));
    await once(socket, 'end');
    expect(socket.bytesWritten).toBeGreaterThan(size);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]+connection: close[\s\S]+body_too_large[\s\S]+}$/i);
  });

  test('the connection stays open after a small refused body', async () => {
    const { url } = await serve(echo({ limit: 10 }));
    const request = `POST /v1/raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n`;
    const answers = await sendRaw(
      url,
      `${request}\r\nelevenbytes${request}Connection: close\r\n\r\nelevenbytes`,
    );
    expect(answers.match(/HTTP\/1\.1 413/g)).toHaveLength(2);
  });
});

describe('slow and leaving callers', () => {
  test('a body that stops coming is 408, and the connection ends', async () => {
    const { url } = await serve(echo({ limit: 1000, idleTimeout: 30 }));
    const answer = await sendRaw(
      url,
      'POST /v1/raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]+request_timeout/);
  });

  test('a body that drips on past its whole time is 408', async () => {
    const { url } = await serve(echo({ limit: 1000, idleTimeout: 5000, totalTimeout: 60 }));
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write('POST /v1/raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), 20);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /);
    clearInterval(drip);
    socket.destroy();
  });

  test('a malformed chunk is a bare 400, and the hub goes on', async () => {
    const { url, records } = await serve(echo({ limit: 1000 }));
    const head = 'POST /v1/raw HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await sendRaw(url, `${head}3\r\nabc\r\nnonsense\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect((await send(`${url}/v1/raw`, { body: 'x' })).json().bytes).toBe(1);
    expect(records.filter(({ type }) => type === 'error')).toEqual([]);
  });

  test('a caller that leaves while sending ends the reading', async () => {
    const server = createServer();
    const outcome = new Promise((resolve) => {
      server.on('request', (request) => readJsonBody(request, { limit: 100 }).catch(resolve));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
      () => socket.resetAndDestroy(),
    );
    expect(await outcome).toMatchObject({ code: 'client_closed_request' });
    server.close();
  });
});

describe('Expect: 100-continue', () => {
  const head = (length: number, extra = '') =>
    `POST /v1/raw HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n${extra}\r\n`;

  async function exchange(url: string, request: string, body: string): Promise<string[]> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const answers: string[] = [];
    socket.write(request);
    for await (const data of socket) {
      answers.push(String(data));
      if (answers.length === 1 && answers[0]?.startsWith('HTTP/1.1 100')) socket.write(body);
      else socket.end();
    }
    return answers;
  }

  test('the word to go on comes when the body is read', async () => {
    const { url } = await serve(echo({ limit: 100 }));
    const [first, second] = await exchange(url, head(5), 'hello');
    expect(first).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    expect(second).toContain('{"bytes":5,"text":"hello"}');
  });

  test('a refused caller is never asked to send', async () => {
    const { url } = await serve(echo({ limit: 100 }), { deps: { authenticator: bearerOnly } });
    expect((await exchange(url, head(5), 'hello'))[0]).toMatch(/^HTTP\/1\.1 401 [\s\S]+connection: close/i);
    const authorized = head(101, 'Authorization: Bearer good\r\n');
    expect((await exchange(url, authorized, 'x'))[0]).toMatch(/^HTTP\/1\.1 413 [\s\S]+connection: close/i);
  });
});
