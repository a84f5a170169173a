import { headerValueFault, isHeaderName } from '../config/formats.ts';
import { HttpClientError } from './answer.ts';

/** A request as it is sent: POST, with its whole body. */
export interface HttpRequest {
  /** Path and query. */
  path: string;
  /** Flat list of names and values, without Host, Content-Length and Connection, which the client sets. */
  headers: readonly string[];
  body: Buffer;
}

/** A path is visible ASCII (RFC 3986) or what a browser would also send of Latin-1. */
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;

/**
 * The lines of headers.
 * @throws HttpClientError `INVALID_REQUEST` for a character that would end a line early
 */
export function headerLines(headers: readonly string[]): string {
  let lines = '';
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as string;
    const value = headers[index + 1] as string;
    if (!isHeaderName(name) || headerValueFault(value) !== undefined) {
      throw new HttpClientError('INVALID_REQUEST', `The header ${JSON.stringify(name)} cannot be sent`);
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** @throws HttpClientError `INVALID_REQUEST` for a character that would end the request line early */
export function checkTarget(target: string): void {
  if (!TARGET.test(target)) {
    throw new HttpClientError('INVALID_REQUEST', 'The path holds a character that cannot be sent');
  }
}
