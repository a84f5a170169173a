import { createHash } from 'node:crypto';
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
    // Signed headers or a signed address: nobody gets in without either.
    if (request.headers.authorization === undefined && !url.searchParams.has('X-Amz-Signature')) {
      return fail(response, 403, 'AccessDenied');
    }
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

function etagOf(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`;
}

function fail(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
