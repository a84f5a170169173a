import { malformedAnswer } from './answer.ts';

/** Bytes of one chunk's extensions, which nobody reads. */
const LONGEST_EXTENSION = 1024;
/** Bytes of all trailers. */
const LONGEST_TRAILERS = 16 * 1024;
/** Hexadecimal digits of a chunk's size: up to 2^48, a safe integer. */
const MOST_DIGITS = 12;

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
const SPACE = 32;
const TAB = 9;

/** Where in a chunked body the next byte belongs. */
const AT = {
  size: 0,
  extension: 1,
  sizeEnd: 2,
  data: 3,
  dataCr: 4,
  dataLf: 5,
  trailerStart: 6,
  trailer: 7,
  trailerEnd: 8,
  lastLf: 9,
  done: 10,
} as const;

/** Reads what stands around the data of chunks (RFC 9112 §7.1), byte by byte: it may be cut anywhere. */
export class ChunkedFraming {
  #at: number = AT.size;
  /** Bytes of the chunk that are still to come. */
  #left = 0;
  /** Digits of the size, or bytes of extensions or trailers, read so far. */
  #count = 0;

  /** A chunked body begins. */
  begin(): void {
    this.#at = AT.size;
    this.#left = 0;
    this.#count = 0;
  }

  get isDone(): boolean {
    return this.#at === AT.done;
  }

  /** So many bytes are data from here on; 0 where the next one is framing. */
  get dataLeft(): number {
    return this.#at === AT.data ? this.#left : 0;
  }

  /** So many of them were taken. */
  take(bytes: number): void {
    this.#left -= bytes;
    if (this.#left === 0) this.#at = AT.dataCr;
  }

  /** @throws HttpClientError `MALFORMED_ANSWER` */
  read(byte: number): void {
    switch (this.#at) {
      case AT.size: {
        const digit = hexDigit(byte);
        if (digit !== -1) {
          this.#count += 1;
          if (this.#count > MOST_DIGITS) throw malformedAnswer('a chunk is too large');
          this.#left = this.#left * 16 + digit;
          return;
        }
        if (this.#count === 0) throw malformedAnswer('a chunk has no size');
        this.#count = 0;
        if (byte === CR) this.#at = AT.sizeEnd;
        else if (byte === SEMICOLON || byte === SPACE || byte === TAB) this.#at = AT.extension;
        else throw malformedAnswer("a chunk's size is no number");
        return;
      }
      case AT.extension:
        this.#count += 1;
        if (byte === CR) this.#at = AT.sizeEnd;
        else if (byte === LF || this.#count > LONGEST_EXTENSION) {
          throw malformedAnswer("a chunk's line has no end");
        }
        return;
      case AT.sizeEnd:
        expectByte(byte, LF);
        this.#count = 0;
        this.#at = this.#left === 0 ? AT.trailerStart : AT.data;
        return;
      case AT.dataCr:
        expectByte(byte, CR);
        this.#at = AT.dataLf;
        return;
      case AT.dataLf:
        expectByte(byte, LF);
        this.begin();
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
    if (byte === LF || this.#count > LONGEST_TRAILERS) throw malformedAnswer('a trailer has no end');
  }
}

function expectByte(byte: number, expected: number): void {
  if (byte !== expected) throw malformedAnswer('a chunk does not end where it should');
}

/** -1 for anything else. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
