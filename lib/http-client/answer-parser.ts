import { isHeaderName } from '../config/formats.ts';
import { type AnswerHandler, type AnswerHeaders, HttpClientError } from './answer.ts';

/** Bytes of a status line with its headers, and of trailers. */
const LONGEST_HEAD = 16 * 1024;
/** Bytes of one chunk's extensions, which nobody reads. */
const LONGEST_EXTENSION = 1024;
/** Hexadecimal digits of a chunk's size: up to 2^48, a safe integer. */
const MOST_DIGITS = 12;

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
const SPACE = 32;
const TAB = 9;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Lines of visible characters, blanks and tabs. No bare CR or LF: the next one to read it might see a line end. */
const HEAD = /^(?:[\t\x20-\x7e\x80-\xff]|\r\n)*$/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
const LENGTH = /^\d{1,15}$/;

/** Where in an answer the next byte belongs. */
const AT = {
  head: 0,
  sizedBody: 1,
  bodyToTheEnd: 2,
  chunkSize: 3,
  chunkExtension: 4,
  chunkSizeEnd: 5,
  chunkData: 6,
  chunkDataCr: 7,
  chunkDataLf: 8,
  trailerStart: 9,
  trailer: 10,
  trailerEnd: 11,
  lastLf: 12,
  done: 13,
} as const;

/**
 * Reads answers of HTTP/1.1 (RFC 9112), one after the other, cut anywhere. Strict where leniency would let two readers
 * see two different answers: line ends, lengths and codings (§6.3, §11.2).
 */
export class AnswerParser {
  #handler: AnswerHandler | undefined;
  #at: number = AT.done;
  /** The beginning of a head that is not all there. */
  #partial: Buffer | undefined;
  /** Bytes of body or chunk that are still to come. */
  #left = 0;
  /** Digits of the size, or bytes of extensions or trailers, read so far. */
  #count = 0;
  #isTunnel = false;
  /** The connection may carry another call after this answer. */
  #keepsAlive = false;
  /** The server's own patience with an idle connection in ms; undefined where it names none (RFC 2068 §19.7.1). */
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
            throw malformed(`its head is longer than ${LONGEST_HEAD} bytes`);
          }
          if (end === -1) {
            this.#partial = bytes.subarray(at);
            return;
          }
          this.#readHead(bytes.toString('latin1', at, end));
          at = end + HEAD_END.length;
          break;
        }
        case AT.sizedBody:
        case AT.chunkData: {
          const end = Math.min(bytes.length, at + this.#left);
          this.#left -= end - at;
          const piece = at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end);
          at = end;
          if (this.#left === 0) this.#at = this.#at === AT.chunkData ? AT.chunkDataCr : AT.done;
          this.#handler?.onData(piece);
          break;
        }
        case AT.bodyToTheEnd:
          this.#handler?.onData(at === 0 ? bytes : bytes.subarray(at));
          return;
        default:
          this.#readFraming(bytes[at] as number);
          at += 1;
      }
    }
    if (at < bytes.length) this.#keepsAlive = false;
  }

  #readHead(head: string): void {
    if (!HEAD.test(head)) throw malformed('its head holds a character that none may hold');
    let end = lineEnd(head, 0);
    const line = STATUS_LINE.exec(end === head.length ? head : head.slice(0, end));
    if (line === null) throw malformed('its first line is no status line');
    const status = Number(line[2]);
    const headers: AnswerHeaders = Object.create(null);
    while (end < head.length) {
      const start = end + 2;
      end = lineEnd(head, start);
      const colon = head.indexOf(':', start);
      const name = head.slice(start, colon).toLowerCase();
      // A blank before the colon, or at the begin of a line (folding), is no part of a name (RFC 9112 §5.1, §5.2).
      if (colon === -1 || colon > end || !isHeaderName(name))
        throw malformed('a line of its head is no header');
      const value = trimmed(head, colon + 1, end);
      const earlier = headers[name];
      if (earlier === undefined) headers[name] = value;
      else if (typeof earlier === 'string') headers[name] = [earlier, value];
      else earlier.push(value);
    }
    if (status < 200) {
      // Interim answers say nothing of the final one; an upgrade was not asked for.
      if (status === 101) throw malformed('it changes the protocol');
      return;
    }
    this.#frame(status, headers);
    this.#keepsAlive = this.#at !== AT.bodyToTheEnd && keepsAlive(headers.connection, line[1] === '1');
    this.idleMs = idleMsOf(headers['keep-alive']);
    this.#handler?.onHead(status, headers);
  }

  /** How the end of the body shows (RFC 9112 §6.3). */
  #frame(status: number, headers: AnswerHeaders): void {
    const length = headers['content-length'];
    const coding = headers['transfer-encoding'];
    if ((this.#isTunnel && status < 300) || status === 204 || status === 304) {
      this.#at = AT.done;
    } else if (coding !== undefined) {
      // Beside a length: somebody smuggles. Another coding than chunked was not asked for.
      if (length !== undefined) throw malformed('it has a length and a transfer coding');
      if (typeof coding !== 'string' || coding.toLowerCase() !== 'chunked') {
        throw malformed('its transfer coding is not chunked');
      }
      this.#expectChunk();
    } else if (length !== undefined) {
      if (typeof length !== 'string' || !LENGTH.test(length)) throw malformed('its length is no number');
      this.#left = Number(length);
      this.#at = this.#left === 0 ? AT.done : AT.sizedBody;
    } else {
      this.#at = AT.bodyToTheEnd;
    }
  }

  #expectChunk(): void {
    this.#at = AT.chunkSize;
    this.#left = 0;
    this.#count = 0;
  }

  /** What stands around the data of chunks (RFC 9112 §7.1), byte by byte: it may be cut anywhere. */
  #readFraming(byte: number): void {
    switch (this.#at) {
      case AT.chunkSize: {
        const digit = hexDigit(byte);
        if (digit !== -1) {
          this.#count += 1;
          if (this.#count > MOST_DIGITS) throw malformed('a chunk is too large');
          this.#left = this.#left * 16 + digit;
          return;
        }
        if (this.#count === 0) throw malformed('a chunk has no size');
        this.#count = 0;
        if (byte === CR) this.#at = AT.chunkSizeEnd;
        else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.#at = AT.chunkExtension;
        else throw malformed("a chunk's size is no number");
        return;
      }
      case AT.chunkExtension:
        this.#count += 1;
        if (byte === CR) this.#at = AT.chunkSizeEnd;
        else if (byte === LF || this.#count > LONGEST_EXTENSION) throw malformed("a chunk's line has no end");
        return;
      case AT.chunkSizeEnd:
        expectByte(byte, LF);
        this.#count = 0;
        this.#at = this.#left === 0 ? AT.trailerStart : AT.chunkData;
        return;
      case AT.chunkDataCr:
        expectByte(byte, CR);
        this.#at = AT.chunkDataLf;
        return;
      case AT.chunkDataLf:
        expectByte(byte, LF);
        this.#expectChunk();
        return;
      case AT.trailerStart:
        this.#at = byte === CR ? AT.lastLf : AT.trailer;
        this.#countTrailer(byte);
        return;
      case AT.trailer:
        if (byte === CR) this.#at = AT.trailerEnd;
        this.#countTrailer(byte);
        return;
      case AT.trailerEnd:
        expectByte(byte, LF);
        this.#at = AT.trailerStart;
        return;
      default:
        expectByte(byte, LF);
        this.#at = AT.done;
    }
  }

  /** Trailers are read over: nothing that a provider says after its answer is asked for. */
  #countTrailer(byte: number): void {
    this.#count += 1;
    if (byte === LF || this.#count > LONGEST_HEAD) throw malformed('a trailer has no end');
  }
}

function malformed(what: string): HttpClientError {
  return new HttpClientError('MALFORMED_ANSWER', `The answer is not HTTP/1.1: ${what}`);
}

function expectByte(byte: number, expected: number): void {
  if (byte !== expected) throw malformed('a chunk does not end where it should');
}

/** Position of the line end from `start` on; the text's length in its last line. */
function lineEnd(head: string, start: number): number {
  const end = head.indexOf('\r\n', start);
  return end === -1 ? head.length : end;
}

/** A header's value without the blanks around it. */
function trimmed(head: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(head.charCodeAt(start))) start += 1;
  while (end > start && isBlank(head.charCodeAt(end - 1))) end -= 1;
  return head.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** -1 for anything else. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Persistence (RFC 9112 §9.3): HTTP/1.1 keeps alive unless told to close, HTTP/1.0 closes unless told to keep. */
function keepsAlive(connection: string | string[] | undefined, isCurrent: boolean): boolean {
  if (connection === undefined) return isCurrent;
  const options = String(connection).toLowerCase();
  if (/(?:^|,)\s*close\s*(?:,|$)/.test(options)) return false;
  return isCurrent || /(?:^|,)\s*keep-alive\s*(?:,|$)/.test(options);
}

function idleMsOf(keepAlive: string | string[] | undefined): number | undefined {
  if (keepAlive === undefined) return undefined;
  const seconds = /(?:^|[,\s])timeout\s*=\s*"?(\d{1,9})/i.exec(String(keepAlive))?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
