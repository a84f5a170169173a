// biome-ignore-all lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
/** Every clause of the specification (`S<section>-<slug>`). */
export const specification: Readonly<Record<string, string>> = {
  // 1. What the service does
  'S1-ai-forward': 'AI requests are forwarded to configured targets through AI-Link',
  'S1-x-target': 'the x-target header names the AI target, the account or the tool server',
  'S1-chat-route': 'the chat route is /v1/chat/completions',
  'S1-video-accounts': 'one or more video accounts are authenticated by OAuth 2.0 and receive uploads',
  'S1-video-tokens': 'tokens are kept in files and refreshed automatically',
  'S1-mcp-transports': 'tool servers are reached over stdio, http and websocket',
  'S1-mcp-rest': 'clients list the tools and invoke them over REST',
  'S1-admin-independent': 'admin uses an API key scheme of its own, independent of main authentication',
  'S1-health-endpoints': 'liveness and readiness endpoints exist',
  'S1-one-file': 'one YAML file, config.yaml, configures everything and is validated at startup',
  'S1-default-port': 'the API port is 3000 unless the environment says otherwise',
  'S1-ailink-port': 'AI-Link listens on a second, internal port; only the API port is exposed',

  // 2.1 Configuration file
  'S2.1-substitution': 'values may use ${VAR} and ${VAR-default}',
  'S2.1-validation-failed':
    'a failed validation logs a message starting with Configuration validation failed: and the detail',
  'S2.1-skip-schema':
    'validation.skipSchemaValidation (or the environment variable) skips structure and type validation; default false',
  'S2.1-http-client-timeout': 'hub.http_client.timeout is a number of ms, the time-out of AI requests',
  'S2.1-http-client-redirects': 'hub.http_client.maxRedirects is the maximum of redirects followed',
  'S2.1-trust-proxy': 'hub.security.trustProxy (boolean or address) takes the client IP from X-Forwarded-For',
  'S2.1-tls': 'hub.tls.enabled with cert, key and ca files serves HTTPS',
  'S2.1-health-enabled': 'healthCheck.enabled switches the health endpoints',
  'S2.1-health-path': 'healthCheck.path moves liveness; default /health',
  'S2.1-readiness-path': 'healthCheck.readinessPath moves readiness; default /ready',
  'S2.1-swagger-enabled': 'swagger.enabled serves interactive API docs',
  'S2.1-swagger-path': 'swagger.path places them, relative to the base address',
  'S2.1-log-switches': 'logging.types.<type>.enabled, console and file switch each log type',
  'S2.1-log-level': 'logging.types.<type>.level sets the level of a type',
  'S2.1-log-rotation': 'logging.fileRotation enables rotation of files',
  'S2.1-log-max-size': 'logging.maxFileSize is a size such as 10m',
  'S2.1-log-max-files': 'logging.maxFiles is a retention such as 14d',
  'S2.1-log-types': 'the log types are access, error, aiLink, proxy, videohost and tools',
  'S2.1-log-files': 'daily files are named app-<type>-YYYY-MM-DD.log in logs/',
  'S2.1-log-json': 'log records are JSON with at least level, module and message',
  'S2.1-log-total-tokens': 'AI-Link records carry totalTokens',
  'S2.1-target-record': 'a target has id, provider, apiKey and options with model and max_completion_tokens',
  'S2.1-target-timeout': 'requestTimeout is per target, in ms',
  'S2.1-azure-deployment': 'azureDeploymentId is taken for the one provider kind that needs it',

  // 2.2 Main authentication configuration
  'S2.2-enabled': 'auth.enabled turns main authentication on or off',
  'S2.2-type': 'auth.type selects validation against the content-system identity API',
  'S2.2-edapi-url': 'auth.edapi_url is the address of the identity API',
  'S2.2-session-store': 'auth.session.store is memory or a Redis-style store',
  'S2.2-cookie-secret': 'auth.session.cookie.secret signs the session cookie and must be strong',

  // 2.3 Admin authentication configuration
  'S2.3-enabled': 'auth.admin.enabled turns admin on; default false',
  'S2.3-api-keys': 'auth.admin.apiKeys is required when enabled',
  'S2.3-key-length': 'an admin key under 32 characters is rejected by configuration validation',
  'S2.3-several-keys': 'several keys may be listed and each of them opens',
  'S2.3-networks': 'auth.admin.allowedNetworks lists addresses or CIDR ranges; empty allows all',

  // 2.4 Video account configuration
  'S2.4-accounts': 'videohost.accounts is required, each with id, client_id, client_secret and redirect_uri',
  'S2.4-id-is-target': 'accounts[].id is unique and is the value of x-target',
  'S2.4-redirect-uri': 'redirect_uri is used exactly as configured, target parameter included',
  'S2.4-token-path': 'token_storage_path is the directory of the token files; default ./tokens',
  'S2.4-token-file':
    'token_storage_file is the pattern; {id} is the account id; each account has its own file',
  'S2.4-scopes': 'the upload scope and the full-access scope are asked for',
  'S2.4-survives-restart': 'tokens survive a restart',

  // 2.5 Token file
  'S2.5-token-file':
    'the token file is JSON with access_token, refresh_token, scope, token_type and expiry_date (ms)',

  // 2.6 Upload request
  'S2.6-video': 'video is required, a binary file',
  'S2.6-title': 'title is required',
  'S2.6-description': 'description is optional; default empty',
  'S2.6-tags': 'tags is an optional comma-separated list',
  'S2.6-category': 'categoryId is one of the category table; default 22',
  'S2.6-privacy': 'privacyStatus is public, unlisted or private; default unlisted',
  'S2.6-thumbnail': 'thumbnail is an optional JPEG or PNG',

  // 2.7 Upload response
  'S2.7-response': 'the answer is success, videoId, url (watch URL) and thumbnailUploaded',

  // 2.8 Tool server configuration
  'S2.8-name': 'mcp.servers[].name is required, unique, and used as x-target',
  'S2.8-transport': 'transport is stdio, http or websocket; default stdio',
  'S2.8-auto-connect': 'autoConnect connects at startup; default false',
  'S2.8-connect-timeout': 'connectTimeout bounds connecting; default 30000 ms',
  'S2.8-tool-timeout': 'toolTimeout bounds an invocation; default 60000 ms',
  'S2.8-allowed-tools': 'allowedTools, when set, exposes only these tools',
  'S2.8-ignored-tools': 'ignoredTools, when set, hides these tools',
  'S2.8-stdio': 'stdio takes command (required, in the allowlist), args (default []) and env (default {})',
  'S2.8-http': 'http takes url (required; POST requests, SSE responses) and headers for authentication',
  'S2.8-websocket': 'websocket takes a ws or wss url; its query may carry the authentication',
  'S2.8-allowlist':
    'the stdio commands are node, npx, python, python3, uv and uvx; another is a configuration error',
  'S2.8-allowlist-stdio-only': 'the allowlist does not apply to http or websocket',
  'S2.8-traversal': 'arguments with path traversal are a configuration error',

  // 2.9 Tool invocation result
  'S2.9-result': 'a result is content (objects with type and text) and isError',

  // 2.10 Admin runtime payload
  'S2.10-process': 'process has pid, hostname, nodeVersion, uptimeSeconds and platform',
  'S2.10-memory': 'process.memoryMb has integer rss, heapUsed, heapTotal and external',
  'S2.10-summary': 'configurationSummary has targets, proxies, tools and mcp, each with count and items',
  'S2.10-usage': 'runtimeUsage holds the usage counters',
  'S2.10-connections': 'mcpConnections holds the connection health of each tool server',
  'S2.10-panel-shows':
    'the panel shows totals, tokens, streaming ratio, error rate, models, latency, finish reasons and breakdowns',
  'S2.10-in-memory': 'metrics are kept in memory and empty after a restart',

  // 2.11 Health payloads
  'S2.11-liveness': 'the liveness body is an object with status ok',
  'S2.11-readiness': 'the readiness body is an object with status ready',

  // 3. States and transitions
  'S3-auth-url':
    'GET /videohost/auth/idp on an existing account returns an authorization URL and changes no state',
  'S3-callback-stores': 'the callback of a granted consent stores tokens in the account file',
  'S3-auto-refresh': 'an expired access token is refreshed without a manual step, and logged',
  'S3-logout': 'logout revokes the tokens and deletes the stored ones',
  'S3-expired':
    'a refresh without or with a revoked refresh token leaves the account expired; logging out and in again mends it',
  'S3-status': 'status reports authenticated true or false for the account',

  // 4. Endpoints
  'S4.1-health': 'GET /health is 200 with the liveness object while the application runs',
  'S4.1-ready': 'GET /ready is 200 when AI-Link is healthy, otherwise 503',
  'S4.2-auth-url': 'GET /videohost/auth/idp answers {authUrl}',
  'S4.2-callback':
    'GET /videohost/auth/idp/callback is public and takes target and the parameters of the identity provider',
  'S4.2-status': 'GET /videohost/auth/status answers {authenticated, target}',
  'S4.2-logout': 'POST /videohost/auth/logout answers {success, message}',
  'S4.2-upload': 'POST /videohost/upload takes x-target and a multipart form and answers the upload response',
  'S4.3-invoke': 'POST /mcp/invoke takes x-target, tool and arguments and answers a tool result',
  'S4.3-tools': 'GET /mcp/tools lists the tools of all servers, or of ?server=',
  'S4.3-stats': 'GET /mcp/stats gives connection status and health metrics of all servers',
  'S4.4-chat': 'POST /v1/chat/completions takes JSON with messages and x-target',
  'S4.5-panel': 'GET /admin/panel is a public HTML page',
  'S4.5-panel-key': 'the panel asks for the key in the browser and sends it with every later call',
  'S4.5-runtime': 'GET /admin/runtime is the runtime payload',
  'S4.5-usage': 'GET /admin/runtime/usage is the runtimeUsage part only',
  'S4.5-reset':
    'POST /admin/runtime/reset clears counters and the uptime anchor and answers {success, message}',
  'S4.5-reset-log': 'a reset logs at warn level with admin identity and client IP',
  'S4.5-config': 'GET /admin/config is the full configuration, redacted',
  'S4.5-config-sections': 'GET /admin/config/targets, proxies, mcp, auth and hub are its sections',
  'S4.5-panel-dashboard': 'the panel has a Dashboard tab',
  'S4.5-panel-ailink': 'the panel has an AI-Link usage tab',
  'S4.5-panel-proxies': 'the Proxies tab shows id, URL, header removal and request counts',
  'S4.5-panel-mcp':
    'the MCP tab shows health, transport, auto-connect, latency, error counts and tools with invocation counts',
  'S4.5-panel-config': 'the Config tab shows the redacted JSON',
  'S4.5-panel-system':
    'the System tab shows version, platform, pid, uptime as days/hours/minutes, memory and raw usage',
  'S4.5-panel-auto-refresh': 'the panel refreshes itself every 30 seconds',
  'S4.5-panel-refresh': 'the panel has a manual refresh',
  'S4.5-panel-reset': 'the panel resets statistics after a confirmation',
  'S4.5-panel-theme': 'the panel has a light and a dark theme, kept in local storage',
  'S4.5-panel-logout': 'logging out of the panel clears the stored key',

  // 5. Authentication
  'S5.1-bearer-or-cookie': 'clients send a bearer token or use a session cookie',
  'S5.1-identity-api': 'the token is checked against the identity API',
  'S5.1-session-store': 'sessions are held in the configured session store',
  'S5.2-protected': 'video, tool and AI routes require main authentication',
  'S5.2-public': 'the video callback and the panel page are public',
  'S5.3-without-main': 'admin authentication works while auth.enabled is false',
  'S5.3-header': 'every admin request sends the key in x-admin-key; no sessions, no cookies',
  'S5.3-constant-time': 'the key is compared in constant time with each configured key',
  'S5.3-header-removed': 'x-admin-key is removed from the request after validation',
  'S5.3-networks':
    'with allowedNetworks the client IP must match an entry, behind a proxy the real one by trustProxy',
  'S5.4-oauth': 'the video platform is used by the authorization code flow with token refresh',
  'S5.4-mcp-http': 'http tool servers get credentials from configured headers',
  'S5.4-mcp-websocket': 'websocket tool servers get them in the URL query',
  'S5.4-ai-key': 'AI targets are called with their apiKey',
  'S5.5-redaction':
    'password, token, apiKey, secret, authorization and key fields are [REDACTED] in admin output',
  'S5.6-no-secrets-in-file': 'secrets come from the environment and are never written into the file',

  // 6. Events
  'S6-auth-events': 'authentication events are logged',
  'S6-upload-events': 'upload operations are logged (type videohost)',
  'S6-refresh-events': 'token refreshes are logged (type videohost)',
  'S6-video-errors': 'error details of the video platform are logged (type videohost)',
  'S6-ailink-events': 'AI-Link operations are logged (type aiLink)',
  'S6-proxy-events': 'proxy operations are logged (type proxy)',
  'S6-tools-events': 'tool operations are logged (type tools)',
  'S6-access-and-error': 'requests are logged (type access) and failures (type error)',

  // 7. Errors
  'S7-admin-key-401': 'a missing or invalid admin key is 401',
  'S7-admin-403': 'admin not configured, or an address not allowed, is 403',
  'S7-main-401': 'main authentication failed or missing is 401',
  'S7-startup-fault': 'an invalid configuration is logged and the service does not start',
  'S7-provider-502': 'an AI provider failure or time-out is a 502 or a time-out',
  'S7-ready-503': 'AI-Link not responding makes /ready 503',
  'S7-upload-failure': 'an upload failure is a 4xx or 5xx',
  'S7-tool-failure': 'a tool execution failure is a 200 with isError true',
  'S7-redirect-uri-mismatch': 'redirect_uri_mismatch is named',
  'S7-no-authentication': 'No authentication found for target is named',
  'S7-token-expired': 'Token has been expired or revoked is named',
  'S7-insufficient-permissions': 'Insufficient permissions is named',
  'S7-quota-exceeded': 'quotaExceeded is named',
  'S7-oauth-failed': 'OAuth authentication failed is named',

  // 8. Limits
  'S8-admin-key-length': 'an admin key has at least 32 characters',
  'S8-connect-timeout': 'connecting to a tool server takes at most 30000 ms by default',
  'S8-tool-timeout': 'a tool invocation takes at most 60000 ms by default',
  'S8-category': 'the upload category is 22 by default',
  'S8-health-check': '/health answers well within the recommended 5 s, without asking anything else',
  'S8-rate-limit': 'rate limiting is an option that can be enabled',

  // 9. Versioning
  'S9-v1': 'the chat route carries the /v1 prefix',
};
