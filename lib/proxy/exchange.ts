import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';

/** What an exchange tells whoever began it; each of the two at most once, and never both. */
export interface ExchangeOutcome {
  /** The upstream's answer has ended; its last bytes may still be on their way to the caller. */
  onAnswered(status: number): void;
  /** The upstream failed. `begun` tells whether the caller has seen the head of an answer. */
  onFailed(error: Error, begun: boolean): void;
  /** The caller left before the answer had ended. */
  onLeft(): void;
}

/** A body up to this size that comes in one piece leaves in one write with its head. */
const ONE_WRITE_BYTES = 16 * 1024;
/** A reason phrase that Node writes (RFC 9112 §4). */
const SAYABLE = /^[\t\x20-\x7e\x80-\xff]+$/;

/**
 * Carries one answer of a proxied service to the caller as it comes, with backpressure: the hot path of the proxies.
 * A class, because undici calls it, and one shape for all exchanges keeps that cheap.
 */
export class ProxyExchange implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #headersOf: (raw: readonly Buffer[]) => string[];
  readonly #outcome: ExchangeOutcome;
  readonly #patienceMs: number;
  #patience: NodeJS.Timeout | undefined;
  #abort: ((reason?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #status = 0;
  #length = -1;
  #written = false;
  #over = false;

  /**
   * @param headersOf the headers that reach the caller, of those that came
   * @param patienceMs how long the caller may take none of what it was sent, in ms
   */
  constructor(
    response: ServerResponse,
    headersOf: (raw: readonly Buffer[]) => string[],
    patienceMs: number,
    outcome: ExchangeOutcome,
  ) {
    this.#response = response;
    this.#headersOf = headersOf;
    this.#patienceMs = patienceMs;
    this.#outcome = outcome;
    response.once('close', this.#onClose);
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.#over) abort(new Error('The caller has left'));
    else this.#abort = abort;
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void, reason: string): boolean {
    // An interim answer is between the hub and the service.
    if (status < 200) return true;
    const response = this.#response;
    this.#status = status;
    this.#resume = resume;
    const headers = this.#headersOf(raw);
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      if (name.length === 14 && name.toLowerCase() === 'content-length') {
        this.#length = Number(headers[index + 1]);
      }
    }
    const isUsual = reason === STATUS_CODES[status] || !SAYABLE.test(reason);
    if (isUsual) response.writeHead(status, headers);
    else response.writeHead(status, reason, headers);
    // Usually the body is right behind, and leaves together with the head.
    setImmediate(this.#flushHead);
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.#over) return true;
    if (!this.#written) {
      this.#written = true;
      if (chunk.length === this.#length && chunk.length <= ONE_WRITE_BYTES) {
        // Node joins a text to its head; a buffer it writes apart.
        this.#answered();
        this.#response.end(chunk.toString('latin1'), 'latin1');
        return true;
      }
    }
    if (this.#response.write(chunk)) return true;
    this.#waitForCaller();
    return false;
  }

  onComplete(rawTrailers: string[] | null): void {
    if (this.#over) return;
    this.#written = true;
    const trailers = (rawTrailers ?? []) as unknown as readonly Buffer[];
    if (trailers.length > 0) {
      const flat = this.#headersOf(trailers);
      const pairs: [string, string][] = [];
      for (let index = 0; index < flat.length; index += 2) {
        pairs.push([flat[index] as string, flat[index + 1] as string]);
      }
      this.#response.addTrailers(pairs);
    }
    this.#answered();
    this.#response.end();
  }

  onError(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#outcome.onFailed(error, this.#response.headersSent);
  }

  /** Reading goes on when the caller has taken what it was sent; one that takes nothing for too long is cut off. */
  #waitForCaller(): void {
    this.#patience = setTimeout(this.#cut, this.#patienceMs);
    this.#response.once('drain', this.#onDrain);
  }

  #answered(): void {
    this.#over = true;
    this.#outcome.onAnswered(this.#status);
  }

  readonly #flushHead = (): void => {
    if (!this.#written && !this.#over) this.#response.flushHeaders();
  };

  readonly #onDrain = (): void => {
    clearTimeout(this.#patience);
    this.#resume?.();
  };

  readonly #cut = (): void => {
    this.#response.destroy();
  };

  readonly #onClose = (): void => {
    clearTimeout(this.#patience);
    if (this.#over) return;
    this.#over = true;
    this.#abort?.(new Error('The caller has left'));
    this.#outcome.onLeft();
  };
}
