import { type AnswerHandler, type Exchange, HttpClientError } from './answer.ts';
import { Connection } from './connection.ts';
import { createDialler, type Dialing, proxyHeaders, type Route } from './dial.ts';
import { checkTarget, type HttpRequest, headerLines } from './request-text.ts';

/** An idle connection is closed after this time, unless the server named a shorter one. */
const KEEP_ALIVE_MS = 30_000;
/** A server that names its patience is believed with this much less: the network takes time as well. */
const KEEP_ALIVE_MARGIN_MS = 1000;
/** How often idle connections are looked through. */
const SWEEP_MS = 5000;
/** A connection that was idle for longer is looked at once more before it is used. */
const FRESH_MS = 1000;

/** Connections to one origin. */
export interface HttpConnections {
  /**
   * Sends a request on a free connection, or on a new one: none waits for another. Nothing is sent twice. `onError` may
   * come before this returns.
   */
  send(request: HttpRequest, handler: AnswerHandler): Exchange;
  /** Closes every connection; calls on them fail. */
  close(): void;
}

/**
 * Creates the connections to one origin, direct or through a forward proxy. An HTTP/1.1 client of the hub's own: it
 * does what a relayed call needs and nothing else, which is what makes it cheap.
 */
export function createHttpConnections(route: Route): HttpConnections {
  const { origin, proxy } = route;
  const dial = createDialler(route);
  /** Free ones, the latest used last: the others may rest until they are closed. */
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  const dialings = new Set<Dialing>();
  let sweeper: NodeJS.Timeout | undefined;

  // A plain request is forwarded by the proxy itself, which must be told where to (RFC 9112 §3.2.2).
  const isForwarded = proxy !== undefined && origin.protocol === 'http:';
  const prefix = isForwarded ? origin.origin : '';
  const fixedLines = headerLines([
    'host',
    origin.host,
    'connection',
    'keep-alive',
    ...(isForwarded ? proxyHeaders(proxy) : []),
  ]);
  // A target's headers are one list for all of its calls.
  let lastHeaders: readonly string[] | undefined;
  let lastLines = '';

  function headOf({ path, headers, body }: HttpRequest): string {
    checkTarget(path);
    if (headers !== lastHeaders) {
      lastLines = fixedLines + headerLines(headers);
      lastHeaders = headers;
    }
    return `POST ${prefix}${path} HTTP/1.1\r\n${lastLines}content-length: ${body.length}\r\n\r\n`;
  }

  function patienceOf({ idleMs }: Connection): number {
    return idleMs === undefined ? KEEP_ALIVE_MS : Math.min(KEEP_ALIVE_MS, idleMs - KEEP_ALIVE_MARGIN_MS);
  }

  const events = {
    onFree(connection: Connection) {
      if (patienceOf(connection) <= 0) {
        connection.destroy();
        return;
      }
      connection.freeSince = performance.now();
      idle.push(connection);
      sweeper ??= setInterval(sweep, SWEEP_MS).unref();
    },
    onGone(connection: Connection) {
      all.delete(connection);
      const at = idle.indexOf(connection);
      if (at !== -1) idle.splice(at, 1);
    },
  };

  function sweep(): void {
    const now = performance.now();
    for (const connection of idle.filter((one) => now - one.freeSince > patienceOf(one))) {
      connection.destroy();
    }
    if (idle.length > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  }

  /** The free connection that was used last. */
  function takeIdle(now: number): Connection | undefined {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.isOpen && now - connection.freeSince < patienceOf(connection)) return connection;
      connection.destroy();
    }
    return undefined;
  }

  function send(request: HttpRequest, handler: AnswerHandler): Exchange {
    const call = new Call(handler);
    let head: string;
    try {
      head = headOf(request);
    } catch (error) {
      call.fail(error as Error);
      return call;
    }
    const now = performance.now();
    const connection = takeIdle(now);
    if (connection === undefined) {
      open(call, head, request.body);
    } else if (now - connection.freeSince < FRESH_MS) {
      call.sendOn(connection, head, request.body);
    } else {
      // The server may have closed it a moment ago: by then that has been read.
      setImmediate(() => {
        if (call.isOver) events.onFree(connection);
        else if (connection.isOpen) call.sendOn(connection, head, request.body);
        else open(call, head, request.body);
      });
    }
    return call;
  }

  function open(call: Call, head: string, body: Buffer): void {
    const dialing = dial({
      onConnected(socket) {
        dialings.delete(dialing);
        const connection = new Connection(socket, events);
        all.add(connection);
        call.sendOn(connection, head, body);
      },
      onFailed(error) {
        dialings.delete(dialing);
        call.fail(error);
      },
    });
    dialings.add(dialing);
    call.waitFor(dialing);
  }

  return {
    send,
    close() {
      clearInterval(sweeper);
      sweeper = undefined;
      const reason = new HttpClientError('CONNECTION_LOST', 'The connections are closed');
      for (const dialing of dialings) dialing.cancel(reason);
      for (const connection of all) connection.close(reason);
    },
  };
}

/** One call, from the search for a connection to its end. A class, because one shape for all calls keeps it cheap. */
class Call implements Exchange {
  readonly #handler: AnswerHandler;
  #dialing: Dialing | undefined;
  #connection: Connection | undefined;
  isOver = false;

  constructor(handler: AnswerHandler) {
    this.#handler = handler;
  }

  waitFor(dialing: Dialing): void {
    this.#dialing = dialing;
  }

  sendOn(connection: Connection, head: string, body: Buffer): void {
    this.#dialing = undefined;
    this.#connection = connection;
    connection.send(head, body, this.#handler);
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#handler.onError(error);
  }

  abort(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#dialing?.cancel();
    this.#connection?.abort(this.#handler);
  }

  pause(): void {
    this.#connection?.pause(this.#handler);
  }

  resume(): void {
    this.#connection?.resume(this.#handler);
  }
}
