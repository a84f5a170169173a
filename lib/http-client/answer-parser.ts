import { type AnswerHandler, malformedAnswer } from './answer.ts';
import { bodyEndOf, readHead } from './answer-head.ts';
import { ChunkedFraming } from './chunked-framing.ts';

/** Bytes of a status line with its headers. */
const LONGEST_HEAD = 16 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Where in an answer the next byte belongs. */
const AT = { head: 0, sizedBody: 1, bodyToTheEnd: 2, chunked: 3, done: 4 } as const;

/**
 * Reads answers of HTTP/1.1 (RFC 9112), one after the other, cut anywhere. Strict where leniency would let two readers
 * see two different answers: line ends, lengths and codings (§6.3, §11.2).
 */
export class AnswerParser {
  #handler: AnswerHandler | undefined;
  #at: number = AT.done;
  /** The beginning of a head that is not all there. */
  #partial: Buffer | undefined;
  /** Bytes of a sized body that are still to come. */
  #left = 0;
  readonly #chunks = new ChunkedFraming();
  #isTunnel = false;
  /** The connection may carry another call after this answer. */
  #keepsAlive = false;
  /** The server's own patience with an idle connection in ms; undefined where it names none. */
  idleMs: number | undefined;

  /** @param isTunnel the request was a CONNECT: a 2xx has no body, and what follows it is not HTTP (RFC 9110 §9.3.6) */
  begin(handler: AnswerHandler, isTunnel = false): void {
    this.#handler = handler;
    this.#at = AT.head;
    this.#isTunnel = isTunnel;
    this.#keepsAlive = false;
  }

  /** Nothing more of this answer is told, not even of the chunk that is being read. */
  stop(): void {
    this.#handler = undefined;
    this.#keepsAlive = false;
    this.#at = AT.done;
  }

  get isDone(): boolean {
    return this.#at === AT.done;
  }

  /** Of an answer that is done: whether nothing forbids another one on its connection. */
  get keepsAlive(): boolean {
    return this.#keepsAlive;
  }

  /** The connection has ended: whether that ends the answer, too, as it should. */
  get endsHere(): boolean {
    return this.#at === AT.bodyToTheEnd;
  }

  /**
   * Reads on. Bytes after the end of an answer are nobody's, and cost the connection its next call.
   * @throws HttpClientError `MALFORMED_ANSWER`
   */
  read(chunk: Buffer): void {
    let bytes = chunk;
    let at = 0;
    while (at < bytes.length && this.#at !== AT.done) {
      switch (this.#at) {
        case AT.head: {
          const partial = this.#partial;
          if (partial !== undefined) {
            bytes = Buffer.concat([partial, bytes]);
            this.#partial = undefined;
          }
          const end = bytes.indexOf(HEAD_END, Math.max(at, (partial?.length ?? 0) - 3));
          if ((end === -1 ? bytes.length : end) - at > LONGEST_HEAD) {
            throw malformedAnswer(`its head is longer than ${LONGEST_HEAD} bytes`);
          }
          if (end === -1) {
            this.#partial = bytes.subarray(at);
            return;
          }
          this.#takeHead(bytes.toString('latin1', at, end));
          at = end + HEAD_END.length;
          break;
        }
        case AT.sizedBody: {
          const end = Math.min(bytes.length, at + this.#left);
          this.#left -= end - at;
          if (this.#left === 0) this.#at = AT.done;
          this.#handler?.onData(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
          at = end;
          break;
        }
        case AT.bodyToTheEnd:
          this.#handler?.onData(at === 0 ? bytes : bytes.subarray(at));
          return;
        default:
          at = this.#readChunked(bytes, at);
      }
    }
    if (at < bytes.length) this.#keepsAlive = false;
  }

  #takeHead(text: string): void {
    const { status, headers, keepsAlive, idleMs } = readHead(text);
    if (status < 200) {
      // Interim answers say nothing of the final one; an upgrade was not asked for.
      if (status === 101) throw malformedAnswer('it changes the protocol');
      return;
    }
    const bodyEnd = bodyEndOf(status, headers, this.#isTunnel);
    if (bodyEnd === 'close') {
      this.#at = AT.bodyToTheEnd;
    } else if (bodyEnd === 'chunked') {
      this.#at = AT.chunked;
      this.#chunks.begin();
    } else {
      this.#at = bodyEnd === 0 ? AT.done : AT.sizedBody;
      this.#left = bodyEnd;
    }
    this.#keepsAlive = keepsAlive && bodyEnd !== 'close';
    this.idleMs = idleMs;
    this.#handler?.onHead(status, headers);
  }

  /** Reads one piece of data or one byte around it. @returns where to read on */
  #readChunked(bytes: Buffer, at: number): number {
    const chunks = this.#chunks;
    const { dataLeft } = chunks;
    if (dataLeft === 0) {
      chunks.read(bytes[at] as number);
      if (chunks.isDone) this.#at = AT.done;
      return at + 1;
    }
    const end = Math.min(bytes.length, at + dataLeft);
    chunks.take(end - at);
    this.#handler?.onData(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }
}
