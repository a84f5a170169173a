/** Contract §5, the AI routes. */
export const ai: Readonly<Record<string, string>> = {
  // target choice
  'C5-target-header': 'x-target chooses the target',
  'C5-target-model': 'else model equal to a target id, or <target id>/<model>, chooses it',
  'C5-target-required': 'else 400 target_required',
  'C5-target-not-found': 'an unknown target is 404 target_not_found, listing no secrets',

  // body
  'C5-body-forwarded': 'the body is forwarded as it came except keys that the hub owns',
  'C5-body-model': "model becomes the target's where the body names none or names the target",
  'C5-body-max-tokens':
    'max_completion_tokens gets its default, not beside its own or max_tokens of the body',
  'C5-body-include-usage':
    'stream_options.include_usage is asked for upstream and the usage-only chunk removed for a client that did not ask',
  'C5-body-literals': 'unknown fields and number literals past a double survive as written',
  'C5-body-owned-twice': 'an owned key that occurs twice, after unescaping, is 400',
  'C5-body-owned-escaped': 'an escaped owned key is replaced in place',
  'C5-body-not-object': 'a body that is not an object is 400',
  'C5-body-utf8': 'invalid UTF-8 is invalid_json',
  'C5-body-encoding': 'a Content-Encoding is 415',
  'C5-identity-encoding': 'upstream is asked for identity encoding',
  'C5-messages': 'messages missing or not an array is 400 before any upstream call',

  // providers
  'C5-provider-openai': 'openai is a provider',
  'C5-provider-azure': 'azure is a provider',
  'C5-provider-anthropic': 'anthropic is a provider',
  'C5-provider-gemini': 'gemini is a provider',
  'C5-provider-ollama': 'ollama is a provider',
  'C5-provider-compatible': 'openai-compatible is a provider',
  'C5-provider-echo':
    'echo answers locally, streams and reports usage, so that a fresh clone works with no key',
  'C5-relay-bytes':
    'answers of OpenAI-shaped providers are relayed byte for byte, comments and line ends too',
  'C5-translate-text': 'text is translated both ways for the others',
  'C5-translate-images': 'images are translated both ways',
  'C5-translate-tools': 'tools and tool results are translated both ways',
  'C5-translate-reasoning': 'reasoning is translated both ways',
  'C5-translate-finish': 'finish reasons are translated',
  'C5-translate-usage': 'usage is translated',
  'C5-translate-errors': 'errors are translated',
  'C5-models': 'GET /v1/models and /v1/models/{id} list the targets',
  'C5-embeddings': 'POST /v1/embeddings is relayed where the provider has it',
  'C5-completions': 'POST /v1/completions is relayed where the provider has it',
  'C5-responses': 'POST /v1/responses is relayed where the provider has it',
  'C5-not-supported': 'where it has not, 404 not_supported',

  // streaming
  'C5-stream-flows': 'bytes of a stream go out as they come in',
  'C5-stream-gated': "a provider's error before the first chunk keeps its real status",
  'C5-stream-backpressure': 'backpressure holds',
  'C5-stream-abort': 'the client leaving aborts the upstream call at once',
  'C5-stream-error-frame':
    'a failure after the first byte sends one data: {"error":…} frame and closes without [DONE]',
  'C5-stream-no-done': 'an upstream stream that ends without [DONE] never gains one',
  'C5-ends-once': 'every request ends exactly once: success, error or aborted',
  'C5-usage': 'usage is the one the provider reported, or marked estimated',

  // errors
  'C5-err-4xx': 'another provider 4xx keeps its status and body, known secrets cut out',
  'C5-err-429': 'a provider 429 keeps Retry-After and rate-limit headers',
  'C5-err-auth': 'a provider 401, 402 or 403 is 502 upstream_auth_failed',
  'C5-err-5xx': 'a provider 5xx, refused, reset, DNS or TLS failure is 502 upstream_unavailable',
  'C5-err-bad-response':
    'a 200 that is not JSON, an empty stream or an error as first frame is 502 upstream_bad_response',
  'C5-err-timeout': 'a time-out before the first byte is 504 upstream_timeout',
  'C5-err-ailink': 'AI-Link down or restarting is 502 ailink_unavailable',
  'C5-err-overloaded': 'an overloaded hub is 503 overloaded with Retry-After',
  'C5-should-retry':
    'x-should-retry: false is on a 429, 502 or 504 that the hub retried or that a retry cannot help',
  'C5-should-retry-absent':
    'it is absent on a 429 whose Retry-After was not waited out, ailink_unavailable and overloaded',
  'C5-answer-headers': 'answers carry x-hub-target and x-hub-overhead-ms',
};
