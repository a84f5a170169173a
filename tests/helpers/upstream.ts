import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll } from '@jest/globals';
import { WebSocketServer } from 'ws';

/** What a request was when it arrived at the service. */
export interface Arrived {
  method: string;
  url: string;
  /** Names and values alternating, as they came. */
  rawHeaders: string[];
  headers: Record<string, string | string[] | undefined>;
  bytes: number;
  sha256: string;
}

/** A service behind a proxy: answers each request with what arrived, as JSON, unless `answer` says otherwise. */
export interface Upstream {
  url: string;
  /** Requests that arrived, the latest last. */
  arrived: Arrived[];
  /** Connections that were ever opened to it. */
  connections(): number;
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Cuts every connection and stops listening. */
  stop(): Promise<void>;
}

const running = new Set<Upstream>();

afterAll(() => Promise.all([...running].map((upstream) => upstream.stop())));

/** Starts one on a free port; ended with the test file at the latest. WebSockets get their messages back. */
export async function startUpstream(port = 0): Promise<Upstream> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    if (upstream.answer !== undefined) {
      upstream.answer(request, response);
      return;
    }
    const hash = createHash('sha256');
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    request.on('end', () => {
      const { method = '', url = '', rawHeaders, headers } = request;
      upstream.arrived.push({ method, url, rawHeaders, headers, bytes, sha256: hash.digest('hex') });
      const body = JSON.stringify(upstream.arrived.at(-1));
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
  const webSockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => [...offered].at(-1) ?? false,
  });
  server.on('upgrade', (request, socket, head) => {
    if (request.url?.includes('refuse')) {
      socket.end('HTTP/1.1 418 No Tea\r\nx-why: no\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnope');
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (client) => {
      const { method = '', url = '', rawHeaders, headers } = request;
      upstream.arrived.push({ method, url, rawHeaders, headers, bytes: 0, sha256: '' });
      client.on('error', () => {});
      client.on('message', (data, isBinary) => client.send(data, { binary: isBinary }));
    });
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const upstream: Upstream = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived: [],
    connections: () => connections,
    answer: undefined,
    async stop() {
      running.delete(upstream);
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  running.add(upstream);
  return upstream;
}
