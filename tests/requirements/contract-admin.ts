/** Contract §8, admin, and §9, proxies. */
export const adminAndProxies: Readonly<Record<string, string>> = {
  // §8 access
  'C8-order': 'not configured or address not allowed is 403, before a missing or wrong key is 401',
  'C8-lock-out':
    'the 11th wrong key within a minute from one address is 429; a missing key does not count, a right one passes',
  'C8-panel-public':
    'the panel page and its assets are public, carry no data and are 200 even with admin off or an address barred',

  // §8 configuration output
  'C8-config-effective': '/admin/config is the whole effective configuration',
  'C8-config-sections': 'the sections are bare; absent is [] or {}',
  'C8-redact-where': 'redaction by name holds for configuration output, not for usage, mcp and process data',
  'C8-redact-names':
    'a field named like a secret, in any case, is [REDACTED] when it holds text, a list or an object',
  'C8-redact-exceptions': 'token_storage_path, token_storage_file and unknownKeys are not redacted',
  'C8-redact-numbers': 'numbers and booleans stay',
  'C8-redact-urls': 'userinfo and query values in URLs are redacted',
  'C8-redact-maps': 'values of headers and env are redacted, and arguments after a flag named like a secret',
  'C8-secret-cut':
    'a configured secret is cut out, raw, JSON-escaped or percent-encoded, wherever it appears',

  // §8 runtime
  'C8-runtime-shape':
    '/admin/runtime is {process, configurationSummary, runtimeUsage, mcpConnections, companion}',
  'C8-summary-items': 'configurationSummary.*.items are ids with their non-secret facts',
  'C8-usage-bare': '/admin/runtime/usage is the runtimeUsage object itself',
  'C8-usage-shape': 'runtimeUsage has every stated field',
  'C8-usage-ratios': 'errorRate is error/total and streamingRatio streaming/total; aborted is no error',
  'C8-usage-estimated': 'estimated tokens are included and counted apart',
  'C8-usage-refused': 'a request refused before its first byte counts no tokens',
  'C8-usage-model': 'model is the one the provider reports, else the one asked for',
  'C8-usage-bounds': 'label sets are bounded to 200, the rest under other',
  'C8-usage-history': 'history is one row a minute for 24 h; its last row is the running minute',
  'C8-reset-clears':
    'reset restarts since and uptimeSeconds and clears usage, history, proxy and tool counters',
  'C8-reset-keeps': 'process.uptimeSeconds, inFlight and connection facts stay',
  'C8-reset-record': 'reset writes a warn record of type access, module admin, with adminKeyId and clientIp',
  'C8-panel-a11y': 'the panel has tablist, tab and tabpanel roles and works by keyboard',
  'C8-panel-narrow': 'the panel does not scroll sideways at 390 px',
  'C8-metrics': 'GET /metrics, by x-admin-key or bearer, is Prometheus text',
  'C8-metrics-names': "it uses OpenTelemetry's GenAI and MCP names",

  // §9
  'C9-choice': 'a proxy is chosen by x-target, or without it by the first path segment',
  'C9-any-method': 'every method passes',
  'C9-streams': 'bodies stream both ways with backpressure',
  'C9-keeps': 'method, query, status, repeated headers and bodies are kept byte for byte',
  'C9-drops': 'hop-by-hop headers and removeHeaders are dropped',
  'C9-removes-response-headers': 'removeResponseHeaders are dropped from the answer',
  'C9-forwarded': "X-Forwarded-* is set: a stranger's replaced, a trusted proxy's appended to",
  'C9-websocket': 'WebSocket upgrades pass',
  'C9-counts': 'counts are handed to the companion, and proxies survive its death',
  'C9-auth-false': "auth: false passes Authorization and the cookies that are not the hub's",
  'C9-set-cookie': "an upstream's Set-Cookie named like the hub's is dropped",
  'C9-base-path': 'a path cannot leave the configured base path',
  'C9-unknown': 'an unknown id is 404 proxy_not_found',
  'C9-failure': 'an upstream failure is 502, a time-out 504',
};
