import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll } from '@jest/globals';

/** A forward proxy: tunnels by CONNECT, and hands on what comes with a whole address (RFC 9112 §3.2.2). */
export interface ForwardProxy {
  /** Host and port, for `HTTP_PROXY` and `HTTPS_PROXY`. */
  host: string;
  /** Each tunnel and request: method, what it was asked for, and its credentials. */
  seen: { method: string; address: string; credentials: string | undefined }[];
}

const running = new Set<{ server: Server; sockets: Set<Duplex> }>();

afterAll(() => {
  for (const { server, sockets } of running) {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  }
});

/** Starts one on a free port, ended with the test file. Names are those of this machine. */
export async function startForwardProxy(): Promise<ForwardProxy> {
  const seen: ForwardProxy['seen'] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const { 'proxy-authorization': credentials, ...rest } = headers;
    seen.push({ method, address: url, credentials });
    const onward = httpRequest(url, { method, headers: rest }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  server.on('connect', ({ url = '', headers }, socket: Duplex) => {
    seen.push({ method: 'CONNECT', address: url, credentials: headers['proxy-authorization'] });
    const far = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    for (const end of [far, socket]) {
      sockets.add(end);
      end.on('error', () => {});
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.add({ server, sockets });
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}
