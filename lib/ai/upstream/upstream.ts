/** One call to a provider, ready to be sent. */
export interface UpstreamCall {
  /** Path and query behind the target's base address. */
  path: string;
  /** Flat list of names and values. */
  headers: readonly string[];
  body: Buffer;
}

/** Headers of a provider's answer; names in lower case. */
export type ResponseHeaders = Record<string, string | string[] | undefined>;

/**
 * Receives a provider's answer. `onHead` and `onData` may come before `send` returns. It ends with exactly one of
 * `onEnd` and `onError`, or with the `abort` of the exchange, after which nothing more is called.
 */
export interface UpstreamHandler {
  onHead(status: number, headers: ResponseHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** A call that is under way. */
export interface Exchange {
  /** Ends the call at once and closes its connection. */
  abort(): void;
  /** Stops reading the answer (backpressure). */
  pause(): void;
  resume(): void;
}

/** Where calls go: a provider over HTTP, or one that is built in. */
export interface Upstream {
  send(call: UpstreamCall, handler: UpstreamHandler): Exchange;
  close(): Promise<void>;
}

/** The provider answered with a redirect that is not followed. */
export class RedirectRefused extends Error {
  override readonly name = 'RedirectRefused';
}
