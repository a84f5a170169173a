/** Headers of an answer; names in lower case, a list where a name came more than once. */
export type AnswerHeaders = Record<string, string | string[] | undefined>;

/**
 * Receives one answer. It ends with exactly one of `onEnd` and `onError`, or with the `abort` of its exchange, after
 * which nothing more is called.
 */
export interface AnswerHandler {
  /** The final status: 1xx are passed over. */
  onHead(status: number, headers: AnswerHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  /** An `HttpClientError`, or what the system or OpenSSL said. */
  onError(error: Error): void;
}

/** A call that is under way. */
export interface Exchange {
  /** Ends the call at once and closes its connection. Does nothing once the call is over. */
  abort(): void;
  /** Stops reading the answer (backpressure). What has been read already may still come. */
  pause(): void;
  resume(): void;
}

/** What this client itself finds wrong. */
export type HttpFault =
  /** No connection in time. */
  | 'CONNECT_TIMEOUT'
  /** The forward proxy did not open a tunnel. */
  | 'PROXY_REFUSED'
  /** The connection ended before the answer did. */
  | 'CONNECTION_LOST'
  /** What came is not HTTP/1.1 (RFC 9112). */
  | 'MALFORMED_ANSWER'
  /** The request cannot be written: a character that would end its line. */
  | 'INVALID_REQUEST';

export class HttpClientError extends Error {
  override readonly name = 'HttpClientError';
  readonly code: HttpFault;

  constructor(code: HttpFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** @param what is wrong, as the end of a sentence about the answer */
export function malformedAnswer(what: string): HttpClientError {
  return new HttpClientError('MALFORMED_ANSWER', `The answer is not HTTP/1.1: ${what}`);
}
