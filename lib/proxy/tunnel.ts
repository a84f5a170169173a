import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { HubRequest } from '../http/request-context.ts';
import { proxyFailure } from './failure.ts';
import type { ForwardEnd } from './forward.ts';
import type { Service } from './service.ts';

/**
 * Passes a WebSocket upgrade on (RFC 9110 §7.8). Resolves with the status that the caller saw: 101 once the tunnel
 * stands, else that of the service's refusal, which is passed back as it is. Rejects with a HubError where the
 * service gave none.
 * @param head first bytes that the caller sent behind its request
 */
export function openTunnel(
  service: Service,
  path: string,
  request: HubRequest,
  socket: Duplex,
  head: Buffer,
): Promise<ForwardEnd> {
  return new Promise((resolve, reject) => {
    service.pool.dispatch(
      { method: 'GET', path, headers: service.requestHeaders(request), upgrade: 'websocket' },
      new TunnelHandler(service, request, socket, head, { resolve, reject }),
    );
  });
}

/** The service's answer to an upgrade. A class, because undici calls it. */
class TunnelHandler implements Dispatcher.DispatchHandler {
  readonly #service: Service;
  readonly #request: HubRequest;
  readonly #socket: Duplex;
  readonly #head: Buffer;
  readonly #outcome: { resolve(end: ForwardEnd): void; reject(error: Error): void };
  #status = 0;
  #resume: (() => void) | undefined;

  constructor(
    service: Service,
    request: HubRequest,
    socket: Duplex,
    head: Buffer,
    outcome: { resolve(end: ForwardEnd): void; reject(error: Error): void },
  ) {
    this.#service = service;
    this.#request = request;
    this.#socket = socket;
    this.#head = head;
    this.#outcome = outcome;
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.#socket.destroyed) abort(new Error('The caller has left'));
    else this.#socket.once('close', () => abort(new Error('The caller has left')));
  }

  onUpgrade(status: number, raw: Buffer[] | string[] | null, upstream: Duplex): void {
    this.#writeHead(status, 'Switching Protocols', raw as Buffer[], [
      'connection',
      'Upgrade',
      'upgrade',
      'websocket',
    ]);
    if (this.#head.length > 0) upstream.write(this.#head);
    join(this.#socket, upstream);
    this.#outcome.resolve({ status });
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, reason: string): boolean {
    if (status < 200) return true;
    this.#status = status;
    this.#resume = resume;
    // Its body ends with the connection, whatever framing it came in.
    this.#writeHead(status, reason, raw, ['connection', 'close']);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#socket.write(chunk)) return true;
    this.#socket.once('drain', () => this.#resume?.());
    return false;
  }

  onComplete(): void {
    this.#socket.end();
    this.#outcome.resolve({ status: this.#status });
  }

  onError(error: Error): void {
    if (this.#status === 0) {
      this.#outcome.reject(proxyFailure(error));
      return;
    }
    this.#socket.destroy();
    this.#outcome.resolve({ status: this.#status, cause: error });
  }

  #writeHead(status: number, reason: string, raw: readonly Buffer[], own: readonly string[]): void {
    const headers = [...this.#service.responseHeaders(raw), 'x-request-id', this.#request.hub.id, ...own];
    let text = `HTTP/1.1 ${status} ${reason}\r\n`;
    for (let index = 0; index < headers.length; index += 2) {
      text += `${headers[index]}: ${headers[index + 1]}\r\n`;
    }
    this.#socket.write(`${text}\r\n`, 'latin1');
  }
}

/** Joins two sockets for as long as both live: bytes both ways with backpressure, one end closes the other. */
function join(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
    from.pipe(to);
  }
}
