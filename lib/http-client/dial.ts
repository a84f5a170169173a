import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { HttpClientError } from './answer.ts';
import { AnswerParser } from './answer-parser.ts';
import { headerLines } from './request-text.ts';

/** How connections to one origin are made. */
export interface Route {
  origin: URL;
  /** The forward proxy, `http:` or `https:`, with user and password where it wants them. */
  proxy: URL | undefined;
  /** ms for all of it: name, connection, tunnel, TLS. */
  connectTimeout: number;
}

/** A connection that is being made. */
export interface Dialing {
  /** Gives it up: with a reason, which is called back, or silently. */
  cancel(reason?: Error): void;
}

/** Called once: the one or the other. */
export interface DialHandler {
  /** TLS and tunnel included: it can carry requests. */
  onConnected(socket: Socket): void;
  onFailed(error: Error): void;
}

/** Silence after which the system looks whether the other end is still there. */
const PROBE_AFTER_MS = 60_000;
const DEFAULT_PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 };

/**
 * Creates the dialler of a route: it keeps the last TLS session, so that the next connection needs half a handshake.
 */
export function createDialler(route: Route) {
  const { origin, proxy, connectTimeout } = route;
  let session: Buffer | undefined;

  function encrypted(host: URL, below: Socket | undefined): Socket {
    const name = bareHost(host);
    const isOrigin = host === origin;
    const socket = connectTls({
      // The host is also what the certificate must be of.
      host: name,
      port: portOf(host),
      ...(below !== undefined && { socket: below }),
      ...(isIP(name) === 0 && { servername: name }),
      ...(isOrigin && session !== undefined && { session }),
      ALPNProtocols: ['http/1.1'],
    });
    if (isOrigin) {
      socket.on('session', (fresh) => {
        session = fresh;
      });
    }
    return socket;
  }

  const plain = (host: URL): Socket => connectTcp({ host: bareHost(host), port: portOf(host) });
  const isTunnelled = proxy !== undefined && origin.protocol === 'https:';
  const first = proxy ?? origin;

  return function dial(handler: DialHandler): Dialing {
    let socket = first.protocol === 'https:' ? encrypted(first, undefined) : plain(first);
    let isOver = false;
    const settle = (error: Error | undefined) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      if (error !== undefined) {
        socket.destroy();
        // What it says from now on is of no interest, but must find a listener.
        socket.on('error', ignore);
        handler.onFailed(error);
        return;
      }
      socket.off('error', settle);
      socket.off('close', onClose);
      handler.onConnected(socket);
    };
    const onClose = () =>
      settle(new HttpClientError('CONNECTION_LOST', 'The connection ended before it was established'));
    const timer = setTimeout(
      () => settle(new HttpClientError('CONNECT_TIMEOUT', `No connection within ${connectTimeout} ms`)),
      connectTimeout,
    );
    const watch = (watched: Socket) => {
      watched.setNoDelay(true);
      watched.setKeepAlive(true, PROBE_AFTER_MS);
      watched.on('error', settle);
      watched.on('close', onClose);
    };
    watch(socket);
    socket.once(first.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      if (!isTunnelled) {
        settle(undefined);
        return;
      }
      openTunnel(socket, origin, proxyHeaders(proxy), (error) => {
        if (error !== undefined || isOver) {
          settle(error);
          return;
        }
        socket = encrypted(origin, socket);
        watch(socket);
        socket.once('secureConnect', () => settle(undefined));
      });
    });
    return {
      cancel(reason) {
        if (isOver) return;
        if (reason !== undefined) {
          settle(reason);
          return;
        }
        isOver = true;
        clearTimeout(timer);
        socket.destroy();
      },
    };
  };
}

/** What a forward proxy wants to know of its user (RFC 9110 §11.7.2). */
export function proxyHeaders(proxy: URL | undefined): string[] {
  if (proxy === undefined || (proxy.username === '' && proxy.password === '')) return [];
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return ['proxy-authorization', `Basic ${Buffer.from(user).toString('base64')}`];
}

/** Has the proxy at the other end of `socket` connect it to the origin (RFC 9110 §9.3.6). */
function openTunnel(
  socket: Socket,
  origin: URL,
  headers: readonly string[],
  done: (error: Error | undefined) => void,
): void {
  const parser = new AnswerParser();
  const finish = (error: Error | undefined) => {
    socket.off('data', onData);
    parser.stop();
    done(error);
  };
  const onData = (chunk: Buffer) => {
    try {
      parser.read(chunk);
    } catch (error) {
      finish(error as Error);
    }
  };
  parser.begin(
    {
      onHead(status) {
        if (status < 300) {
          socket.pause();
          finish(undefined);
        } else {
          finish(new HttpClientError('PROXY_REFUSED', `The forward proxy answered CONNECT with ${status}`));
        }
      },
      onData: ignore,
      onEnd: ignore,
      onError: ignore,
    },
    true,
  );
  socket.on('data', onData);
  const authority = `${origin.hostname}:${portOf(origin)}`;
  socket.write(
    `CONNECT ${authority} HTTP/1.1\r\n${headerLines(['host', authority, ...headers])}\r\n`,
    'latin1',
  );
}

/** The host as the system's resolver wants it: IPv6 addresses without brackets. */
function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** The port of an address, its scheme's own where it names none. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 80) : Number(port);
}

function ignore(): void {}
