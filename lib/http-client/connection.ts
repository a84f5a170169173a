import type { Socket } from 'node:net';
import { type AnswerHandler, HttpClientError } from './answer.ts';
import { AnswerParser } from './answer-parser.ts';

/** A body up to this size leaves in one piece with its head, which is cheaper than two pieces in one write. */
const ONE_PIECE_BYTES = 16 * 1024;

export interface ConnectionEvents {
  /** It may carry another call. */
  onFree(connection: Connection): void;
  /** It has ended, or will: it carries no more calls. */
  onGone(connection: Connection): void;
}

/** One connection, with at most one call on it (no pipelining: RFC 9112 §9.3.2 wants only safe methods there). */
export class Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  readonly #parser = new AnswerParser();
  #handler: AnswerHandler | undefined;
  #lastError: Error | undefined;
  /** `performance.now()` when it became free. */
  freeSince = 0;

  /** @param socket is connected, TLS included */
  constructor(socket: Socket, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('end', () => this.#ended());
    socket.on('error', (error) => {
      this.#lastError = error;
    });
    socket.on('close', () => {
      this.close(this.#lastError ?? new HttpClientError('CONNECTION_LOST', 'The connection was closed'));
      events.onGone(this);
    });
  }

  /** Whether nothing has been seen yet that would keep it from carrying a call. */
  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable && this.#socket.readable;
  }

  /** The server's own patience with an idle connection in ms, where it named one. */
  get idleMs(): number | undefined {
    return this.#parser.idleMs;
  }

  /** Sends a call; its answer goes to `handler`. */
  send(head: string, body: Buffer, handler: AnswerHandler): void {
    this.#handler = handler;
    this.#parser.begin(handler);
    const socket = this.#socket;
    if (body.length <= ONE_PIECE_BYTES) {
      socket.write(head + body.toString('latin1'), 'latin1');
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  /** Ends the call of this handler, and the connection with it; another one's is left alone. */
  abort(handler: AnswerHandler): void {
    if (this.#handler === handler) this.destroy();
  }

  pause(handler: AnswerHandler): void {
    if (this.#handler === handler) this.#socket.pause();
  }

  resume(handler: AnswerHandler): void {
    if (this.#handler === handler) this.#socket.resume();
  }

  /** Closes it at once; a call on it hears nothing more. */
  destroy(): void {
    this.#handler = undefined;
    this.#parser.stop();
    this.#socket.destroy();
  }

  /** Closes it at once; a call on it fails. */
  close(reason: Error): void {
    const handler = this.#handler;
    this.destroy();
    handler?.onError(reason);
  }

  #read(chunk: Buffer): void {
    const handler = this.#handler;
    if (handler === undefined) {
      // Nobody asked: whatever it is, it must not be taken for the answer to the next call.
      this.#socket.destroy();
      return;
    }
    try {
      this.#parser.read(chunk);
    } catch (error) {
      this.close(error as Error);
      return;
    }
    // Otherwise the call was aborted meanwhile.
    if (this.#parser.isDone && this.#handler === handler) this.#finish(handler);
  }

  #finish(handler: AnswerHandler): void {
    this.#handler = undefined;
    // An answer that came before its request was all sent (such as a refusal) leaves the rest of that in the way.
    const isFree = this.#parser.keepsAlive && this.#socket.writableLength === 0 && this.isOpen;
    this.#parser.stop();
    if (isFree) {
      // A call may have paused it just before its end.
      if (this.#socket.isPaused()) this.#socket.resume();
      this.#events.onFree(this);
    } else {
      this.#socket.destroy();
    }
    try {
      handler.onEnd();
    } catch (error) {
      handler.onError(error as Error);
    }
  }

  /** The server has ended its side. */
  #ended(): void {
    const handler = this.#handler;
    if (handler !== undefined && this.#parser.endsHere) this.#finish(handler);
    else
      this.close(new HttpClientError('CONNECTION_LOST', 'The provider closed the connection before the end'));
  }
}
