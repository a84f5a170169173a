import type { TargetConfig } from '../../config/schema/targets.ts';
import type { AiRequest } from '../body/ai-request.ts';
import type { CallFacts } from '../call-facts.ts';
import type { Operation } from '../operations.ts';
import type { Upstream, UpstreamCall } from '../upstream/upstream.ts';

/**
 * One provider: four files of a folder of their own, one for each part. The hub's callers speak OpenAI's protocol;
 * a part either relays it or translates it. A part knows nothing of other providers.
 */
export interface Provider {
  request: ProviderRequest;
  response: ProviderResponse;
  stream: ProviderStream;
  errors: ProviderErrors;
}

/** A call as a provider's parts see it. */
export interface ProviderCall {
  request: AiRequest;
  /** The model to ask for: the caller's, else the target's; undefined when there is neither. */
  model: string | undefined;
  /** The hub alone asks for usage: the chunk that holds nothing else is not for the caller. */
  hidesUsage: boolean;
}

/** `request.ts`: what goes out. */
export interface ProviderRequest {
  /** What the provider has; anything else is 404 `not_supported`. */
  operations: readonly Operation[];
  /** Used when the target has no `baseUrl`. Without either the target cannot be called. */
  defaultBaseUrl?: string;
  /** The provider itself, when it is built in instead of being called over HTTP. */
  createUpstream?(): Upstream;
  /**
   * Compiles a target once, at start.
   * The returned function may throw HubError `invalid_request` for what the provider cannot express.
   */
  compile(target: TargetConfig): (call: ProviderCall) => UpstreamCall;
}

/** `response.ts`: the body of a 2xx that is not streamed. */
export interface ProviderResponse {
  /**
   * Notes usage, model and finish reasons in `facts`.
   * @returns the body for the caller: the same bytes when they are relayed.
   * @throws BadAnswer when the body is not a valid answer.
   */
  read(body: Buffer, facts: CallFacts, call: ProviderCall): Buffer;
}

/** Where a stream goes on its way to the caller. */
export interface StreamSink {
  /** Bytes for the caller: whole SSE frames, or comments. They are held back until `open`. */
  write(bytes: Buffer): void;
  /** The first real event has been seen: from now on the call is a success in progress. */
  open(): void;
  /** The stream cannot go on: it is malformed, or the provider reported an error. The reader is not called again. */
  fail(reason: string): void;
  /** Cuts configured secrets and the target's host out of a text, such as a provider's own error. */
  mask(text: string): string;
  /** The stream has told its own failure; nothing more is read, whatever the provider sends. */
  end(): void;
}

/** Takes a provider's stream as it comes; chunks may be cut anywhere. */
export interface StreamReader {
  push(chunk: Buffer): void;
  /** The provider has ended its answer cleanly. */
  end(): void;
}

/** `stream.ts`: the body of a streamed 2xx. */
export interface ProviderStream {
  createReader(sink: StreamSink, facts: CallFacts, call: ProviderCall): StreamReader;
}

/** `errors.ts`: the body of a 4xx. */
export interface ProviderErrors {
  /** @returns the body for the caller, in OpenAI's shape; the same bytes when they are relayed. */
  translate(status: number, body: Buffer): Buffer;
  /** Whether a 4xx means the hub's own credentials, where the status alone does not say so. */
  isCredentialFault?(status: number, body: Buffer): boolean;
}

/** A 2xx whose body is not a valid answer. The message is for the log. */
export class BadAnswer extends Error {
  override readonly name = 'BadAnswer';
}
