import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';

/** As much of S3 as the hub uses: objects, conditional writes and lists of one bucket, addressed by path. */
export interface FakeS3 {
  endpoint: string;
  /** Objects by `bucket/key`. */
  objects: Map<string, Buffer>;
  /** `METHOD bucket/key` of each request, with the headers that decide. */
  requests: { line: string; headers: IncomingMessage['headers'] }[];
}

/** The environment of a hub that may use it. */
export const FAKE_S3_ENV = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret-key-0123' };

const servers = new Set<Server>();
afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

export async function startFakeS3(): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  const requests: FakeS3['requests'] = [];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://s3');
    const path = decodeURIComponent(url.pathname.slice(1));
    requests.push({ line: `${request.method} ${path}`, headers: request.headers });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    // Signed headers or a signed address: nobody gets in without either. Addresses are checked to the letter.
    const isSigned = url.searchParams.has('X-Amz-Signature')
      ? url.searchParams.get('X-Amz-Signature') === signatureOf(request, url)
      : request.headers.authorization !== undefined;
    if (!isSigned) return fail(response, 403, 'SignatureDoesNotMatch');
    if (url.searchParams.get('list-type') === '2') return list(response, path, url.searchParams);
    const found = objects.get(path);
    switch (request.method) {
      case 'GET':
      case 'HEAD':
        if (found === undefined) return fail(response, 404, 'NoSuchKey');
        response.writeHead(200, { etag: etagOf(found), 'content-length': found.length });
        response.end(request.method === 'HEAD' ? undefined : found);
        return;
      case 'PUT': {
        const { 'if-none-match': none, 'if-match': match } = request.headers;
        if (none === '*' && found !== undefined) return fail(response, 412, 'PreconditionFailed');
        if (match !== undefined && (found === undefined || match !== etagOf(found))) {
          return fail(response, 412, 'PreconditionFailed');
        }
        objects.set(path, body);
        response.writeHead(200, { etag: etagOf(body) });
        response.end();
        return;
      }
      case 'DELETE':
        objects.delete(path);
        response.writeHead(204);
        response.end();
        return;
      default:
        return fail(response, 405, 'MethodNotAllowed');
    }
  }

  function list(response: ServerResponse, path: string, query: URLSearchParams): void {
    const bucket = path.replace(/\/$/, '');
    const wanted = `${bucket}/${query.get('prefix') ?? ''}`;
    const keys = [...objects.keys()].filter((key) => key.startsWith(wanted));
    const contents = keys.map((key) => `<Contents><Key>${key.slice(bucket.length + 1)}</Key></Contents>`);
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(
      `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name>${contents.join('')}</ListBucketResult>`,
    );
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  servers.add(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, objects, requests };
}

/** Signature version 4 of an address, as AWS documents it for query parameters. */
function signatureOf(request: IncomingMessage, url: URL): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort();
  const names = (url.searchParams.get('X-Amz-SignedHeaders') ?? '').split(';');
  const headers = names.map((name) => `${name}:${request.headers[name]}\n`).join('');
  const canonical = [
    request.method,
    url.pathname,
    query.join('&'),
    headers,
    names.join(';'),
    'UNSIGNED-PAYLOAD',
  ];
  const time = url.searchParams.get('X-Amz-Date') ?? '';
  const scope = (url.searchParams.get('X-Amz-Credential') ?? '').split('/').slice(1);
  const digest = createHash('sha256').update(canonical.join('\n')).digest('hex');
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), digest].join('\n');
  const key = scope.reduce<Buffer | string>(
    (last, part) => hmac(last, part),
    `AWS4${FAKE_S3_ENV.AWS_SECRET_ACCESS_KEY}`,
  );
  return hmac(key, text).toString('hex');
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
