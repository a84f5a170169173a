import type { AnswerHandler, AnswerHeaders, Exchange } from '../../http-client/answer.ts';

/** One call to a provider, ready to be sent. */
export interface UpstreamCall {
  /** Path and query behind the target's base address. */
  path: string;
  /** Flat list of names and values. */
  headers: readonly string[];
  body: Buffer;
}

/** What an answer over HTTP and one that is built in have in common. */
export type { AnswerHandler as UpstreamHandler, AnswerHeaders as ResponseHeaders, Exchange };

/** Where calls go: a provider over HTTP, or one that is built in. */
export interface Upstream {
  /** `onHead` and `onData` may come before this returns. */
  send(call: UpstreamCall, handler: AnswerHandler): Exchange;
  close(): Promise<void>;
}

/** The provider answered with a redirect that is not followed. */
export class RedirectRefused extends Error {
  override readonly name = 'RedirectRefused';
}
