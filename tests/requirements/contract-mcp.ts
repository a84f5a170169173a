/** Contract §6, the tool gateway. */
export const mcp: Readonly<Record<string, string>> = {
  // listing
  'C6-tools-shape':
    'GET /mcp/tools is {tools:[{server,name,title?,description?,inputSchema,outputSchema?,annotations?}], servers:[…], total}',
  'C6-tools-servers': 'its servers have name, status, toolCount, stale and error?',
  'C6-tools-never-waits':
    'it never waits for a server that is down and shows its last tools with stale: true',
  'C6-tools-first-connect': 'servers never tried are connected by the first listing or invoke, side by side',
  'C6-tools-first-wait': 'a listing waits only for a first attempt still running, after a failed one never',
  'C6-tools-unknown': '?server= unknown is 404 server_not_found',

  // invoking
  'C6-invoke-target': 'x-target missing is 400 target_required, unknown 404 server_not_found',
  'C6-invoke-input': 'tool missing or not a string, or arguments not an object, is 400; left out is {}',
  'C6-invoke-hidden':
    'a tool that does not exist and one hidden by a filter look the same: 404 tool_not_found',
  'C6-invoke-schema': "arguments that fail the tool's inputSchema are an isError result",
  'C6-invoke-tool-error': "a tool's own error is an isError result",
  'C6-invoke-timeout': 'a time-out is an isError result',
  'C6-invoke-crash': 'a crash of the server is an isError result at once',
  'C6-invoke-down': 'a server that is down is an isError result',
  'C6-invoke-content': 'content of every MCP kind, structuredContent and _meta pass unchanged',
  'C6-invoke-is-error': 'isError is always there',
  'C6-hub-tools':
    'tools[] appear as the reserved server hub: listed, invoked, counted and offered over POST /mcp',
  'C6-hub-tools-error': 'an HTTP failure of one is an isError with status and body, cut to 64 kB',
  'C6-filter-order': 'ignoredTools wins over allowedTools',
  'C6-filter-both': 'both hold at listing and at invoking',
  'C6-cancel': 'the caller leaving cancels the call upstream',
  'C6-cancel-timeout': 'a time-out cancels it too, and the connection stays',

  // stats
  'C6-stats-shape': 'GET /mcp/stats is {summary, servers}',
  'C6-stats-summary':
    'summary has total, connected, connecting, backoff, error, toolsTotal, invocations and errors',
  'C6-stats-server': 'each server has every field of S',
  'C6-stats-connections': 'mcpConnections of /admin/runtime are the same objects',
  'C6-stats-endpoint': 'endpoint is redacted',
  'C6-stats-errors': 'errors are counted by class: tool, timeout, transport, protocol, cancelled',
  'C6-stats-counting': 'all count in invocations, per-tool errors include time-outs, 404s count nowhere',
  'C6-stats-exit': 'exit is the last one, kept after a reconnect',
  'C6-stats-null': 'times are ISO 8601; a field without value is null and only marked ones may be absent',
  'C6-missing-command': 'a command that is not installed is state error, not a configuration fault',
  'C6-states':
    'states are disconnected, connecting, connected, degraded, backoff, error and closing, by their triggers',

  // aggregate endpoint
  'C6-aggregate': "POST /mcp is one MCP server that offers every server's tools",
  'C6-aggregate-names': 'its tools are named <server>__<tool>, other characters as _',
  'C6-aggregate-server-names': 'server names match the pattern; another is a configuration fault',
  'C6-aggregate-long-names': 'past 64 characters or on a clash a name is cut and ends in an 8-hex hash',
  'C6-aggregate-sessions':
    'sessions make cancellation and progress work; GET opens the stream, DELETE ends the session',
  'C6-aggregate-companion': 'sessions are held in the companion',
  'C6-aggregate-identity': "a session is bound to the caller's identity; another's is 404",
  'C6-aggregate-idle': 'a session ends after 30 idle minutes',
};
