import { isHeaderName } from '../config/formats.ts';
import { type AnswerHeaders, malformedAnswer } from './answer.ts';

/** The status line and the headers of one answer. */
export interface AnswerHead {
  status: number;
  headers: AnswerHeaders;
  /** The connection may carry another call, as far as the head says. */
  keepsAlive: boolean;
  /** The server's own patience with an idle connection in ms; undefined where it names none (RFC 2068 §19.7.1). */
  idleMs: number | undefined;
}

/** How the end of a body shows: by its length in bytes, by chunks, or by the end of the connection. */
export type BodyEnd = number | 'chunked' | 'close';

const SPACE = 32;
const TAB = 9;

/** Lines of visible characters, blanks and tabs. No bare CR or LF: the next one to read it might see a line end. */
const HEAD = /^(?:[\t\x20-\x7e\x80-\xff]|\r\n)*$/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |$)/;
const LENGTH = /^\d{1,15}$/;

/**
 * Reads a head (RFC 9112 §4, §5).
 * @param head without the empty line at its end
 * @throws HttpClientError `MALFORMED_ANSWER`
 */
export function readHead(head: string): AnswerHead {
  if (!HEAD.test(head)) throw malformedAnswer('its head holds a character that none may hold');
  let end = lineEnd(head, 0);
  const line = STATUS_LINE.exec(end === head.length ? head : head.slice(0, end));
  if (line === null) throw malformedAnswer('its first line is no status line');
  const headers: AnswerHeaders = Object.create(null);
  while (end < head.length) {
    const start = end + 2;
    end = lineEnd(head, start);
    const colon = head.indexOf(':', start);
    const name = head.slice(start, colon).toLowerCase();
    // A blank before the colon, or at the begin of a line (folding), is no part of a name (RFC 9112 §5.1, §5.2).
    if (colon === -1 || colon > end || !isHeaderName(name)) {
      throw malformedAnswer('a line of its head is no header');
    }
    const value = trimmed(head, colon + 1, end);
    const earlier = headers[name];
    if (earlier === undefined) headers[name] = value;
    else if (typeof earlier === 'string') headers[name] = [earlier, value];
    else earlier.push(value);
  }
  return {
    status: Number(line[2]),
    headers,
    keepsAlive: keepsAlive(headers.connection, line[1] === '1'),
    idleMs: idleMsOf(headers['keep-alive']),
  };
}

/**
 * How the body of a final answer ends (RFC 9112 §6.3).
 * @param isTunnel the request was a CONNECT
 * @throws HttpClientError `MALFORMED_ANSWER`
 */
export function bodyEndOf(status: number, headers: AnswerHeaders, isTunnel: boolean): BodyEnd {
  if ((isTunnel && status < 300) || status === 204 || status === 304) return 0;
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    // Beside a length: somebody smuggles. Another coding than chunked was not asked for.
    if (length !== undefined) throw malformedAnswer('it has a length and a transfer coding');
    if (typeof coding !== 'string' || coding.toLowerCase() !== 'chunked') {
      throw malformedAnswer('its transfer coding is not chunked');
    }
    return 'chunked';
  }
  if (length === undefined) return 'close';
  if (typeof length !== 'string' || !LENGTH.test(length)) throw malformedAnswer('its length is no number');
  return Number(length);
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
