import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { errorBody } from '../errors/hub-error.ts';
import { unavailable } from './json-call.ts';
import { INTERNAL_HEADERS } from './protocol.ts';

export interface RelayOutcome {
  resolve(): void;
  reject(error: Error): void;
  /** The answer is an error of the hub's own, of this code. */
  onCode(code: string): void;
  /** The companion went away after the first byte. */
  onCut(cause: Error): void;
}

/** Headers of one connection (RFC 9110 §7.6.1), and those that the gateway answers itself. */
const NOT_RELAYED = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'date',
  INTERNAL_HEADERS.requestId,
]);

/** A longer body is not worth turning into a text. */
const ONE_PIECE_BYTES = 16 * 1024;

/**
 * Carries one answer of the companion to the caller as it comes: the hot path of the gateway. A class, because
 * undici calls it, and one shape for all calls keeps that cheap.
 *
 * Nothing is written before the first body byte has come (or the answer has ended), so that a companion that
 * dies before it still gives a clean 502. An event stream's headers go out alone when no byte follows at once.
 */
export class RelayHandler implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #outcome: RelayOutcome;
  #abort: ((reason?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #status = 0;
  #headers: string[] = [];
  #isEventStream = false;
  #refused = false;
  #begun = false;
  #ended = false;
  #waiting = false;
  #last: Buffer | undefined;
  #beforeLast: Buffer | undefined;

  constructor(response: ServerResponse, outcome: RelayOutcome) {
    this.#response = response;
    this.#outcome = outcome;
    response.once('close', () => this.#onCallerLeft());
  }

  onConnect(abort: (reason?: Error) => void): void {
    if (this.#ended || this.#response.destroyed) abort(new Error('The caller has left'));
    else this.#abort = abort;
  }

  onHeaders(status: number, rawHeaders: readonly (Buffer | string)[], resume: () => void): boolean {
    if (status < 200) return true;
    this.#resume = resume;
    this.#take(status, rawHeaders);
    if (this.#isEventStream) setImmediate(() => this.#flushHeaders());
    return true;
  }

  /** What the caller gets of a head. */
  #take(status: number, rawHeaders: readonly (Buffer | string)[]): void {
    this.#status = status;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = latin1(rawHeaders[index]).toLowerCase();
      if (NOT_RELAYED.has(name)) continue;
      const value = latin1(rawHeaders[index + 1]);
      if (name === 'content-type') this.#isEventStream = value.startsWith('text/event-stream');
      else if (name === INTERNAL_HEADERS.refused) this.#refused = true;
      else if (name === INTERNAL_HEADERS.code) {
        this.#outcome.onCode(value);
        continue;
      }
      this.#headers.push(name, value);
    }
  }

  onData(chunk: Buffer): boolean {
    if (this.#refused || this.#ended) return true;
    if (!this.#begun) this.#begin();
    if (this.#isEventStream) {
      this.#beforeLast = this.#last;
      this.#last = chunk;
    }
    if (this.#response.write(chunk)) return true;
    // What was under way may still come after this, and finds one listener waiting.
    if (!this.#waiting) {
      this.#waiting = true;
      this.#response.once('drain', () => {
        this.#waiting = false;
        this.#resume?.();
      });
    }
    return false;
  }

  onComplete(): void {
    if (this.#ended) return;
    if (this.#refused) {
      this.onError(new Error('AI-Link refused the token'));
      return;
    }
    this.#ended = true;
    if (!this.#begun) this.#begin();
    this.#response.end();
    this.#outcome.resolve();
  }

  onWhole(status: number, rawHeaders: readonly string[], body: Buffer): void {
    if (this.#ended) return;
    this.#take(status, rawHeaders);
    if (this.#refused) {
      this.onComplete();
      return;
    }
    this.#ended = true;
    this.#begin();
    // As a text a short body leaves in one piece with the head, which is cheaper than two pieces in one write.
    if (body.length <= ONE_PIECE_BYTES) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end(Buffer.from(body));
    this.#outcome.resolve();
  }

  onError(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.#begun) {
      this.#outcome.reject(unavailable(error));
      return;
    }
    this.#outcome.onCut(error);
    if (this.#isEventStream) {
      this.#response.end(`${this.#endOfFrame()}data: ${JSON.stringify(errorBody(unavailable()))}\n\n`);
    } else {
      this.#response.destroy();
    }
    this.#outcome.resolve();
  }

  #begin(): void {
    this.#begun = true;
    this.#response.writeHead(this.#status, this.#headers);
  }

  #flushHeaders(): void {
    if (this.#begun || this.#ended || this.#refused) return;
    this.#begin();
    this.#response.flushHeaders();
  }

  /** What a stream that was cut anywhere needs before the next frame can begin. */
  #endOfFrame(): string {
    const tail = latin1(this.#beforeLast).slice(-4) + latin1(this.#last).slice(-4);
    if (tail === '' || /(\n\n|\r\n\r\n|\r\r)$/.test(tail)) return '';
    return /[\r\n]$/.test(tail) ? '\n' : '\n\n';
  }

  #onCallerLeft(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#abort?.(new Error('The caller has left'));
    this.#outcome.resolve();
  }
}

function latin1(bytes: Buffer | string | undefined): string {
  return typeof bytes === 'string' ? bytes : (bytes?.toString('latin1') ?? '');
}
