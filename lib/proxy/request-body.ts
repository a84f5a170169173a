import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { HubError } from '../errors/hub-error.ts';

/**
 * The body of a request, for an upstream that may be through with it before it ends. Undici destroys a body that it
 * needs no more, and to destroy the request itself would cut off its caller before the answer.
 */
export class RequestBody extends Readable {
  readonly #request: IncomingMessage;
  readonly #idleMs: number;
  #clock: NodeJS.Timeout | undefined;

  /** @param idleMs silence after which the caller counts as gone, in ms */
  constructor(request: IncomingMessage, idleMs: number) {
    super();
    this.#request = request;
    this.#idleMs = idleMs;
  }

  override _read(): void {
    if (this.#clock === undefined) this.#attach();
    this.#clock?.refresh();
    this.#request.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#clock);
    this.#request.off('data', this.#onData);
    this.#request.off('end', this.#onEnd);
    this.#request.off('close', this.#onClose);
    // Somebody else may be reading away what is left by now, and must not wait for ever because this body was full.
    if (this.#request.listenerCount('data') === 0) this.#request.pause();
    else this.#request.resume();
    done(error);
  }

  #attach(): void {
    this.#clock = setTimeout(this.#onSilence, this.#idleMs);
    this.#request.on('data', this.#onData);
    this.#request.on('end', this.#onEnd);
    this.#request.on('close', this.#onClose);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#clock?.refresh();
    if (!this.push(chunk)) this.#request.pause();
  };

  readonly #onEnd = (): void => {
    clearTimeout(this.#clock);
    this.push(null);
  };

  readonly #onClose = (): void => {
    if (this.#request.readableEnded) return;
    this.destroy(new HubError('client_closed_request', 'The caller left while sending the body'));
  };

  readonly #onSilence = (): void => {
    // The service takes its time; that has a clock of its own.
    if (this.#request.isPaused()) this.#clock?.refresh();
    else this.destroy(new HubError('request_timeout', 'The body did not arrive in time'));
  };
}
