import { Type } from '@sinclair/typebox';
import { answer, anything, milliseconds, oneOf, orNull, ref, text, time, whole } from './vocabulary.ts';

const status = oneOf(
  ['disconnected', 'connecting', 'connected', 'degraded', 'backoff', 'error', 'closing'],
  'State of the connection.',
);

export const mcpSchemas = {
  InvokeRequest: Type.Object({
    tool: text('Name of the tool.', { minLength: 1, examples: ['echo'] }),
    arguments: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: "Checked against the tool's inputSchema.",
        examples: [{ message: 'hello' }],
      }),
    ),
  }),
  ToolResult: answer({
    content: Type.Array(
      answer({ type: text('text, image, audio, resource or resource_link.'), text: Type.Optional(text()) }),
    ),
    structuredContent: Type.Optional(Type.Unknown()),
    isError: Type.Boolean({
      description: 'True for arguments refused, an error of the tool, a timeout, and a server that is down.',
    }),
  }),
  Tool: answer({
    server: text(),
    name: text(),
    title: Type.Optional(text()),
    description: Type.Optional(text()),
    inputSchema: anything('JSON Schema of the arguments.'),
    outputSchema: Type.Optional(anything('JSON Schema of `structuredContent`.')),
    annotations: Type.Optional(anything('Hints of the server.')),
  }),
  ToolList: answer({
    tools: Type.Array(ref('Tool')),
    servers: Type.Array(
      answer({
        name: text(),
        status,
        toolCount: whole(),
        stale: Type.Boolean({ description: 'The tools are those last known.' }),
        error: Type.Optional(text()),
      }),
    ),
    total: whole(),
  }),
  ToolServer: answer({
    name: text(),
    transport: oneOf(['stdio', 'http', 'websocket', 'internal']),
    autoConnect: Type.Boolean(),
    status,
    healthy: Type.Boolean(),
    serverInfo: orNull(anything('As the server introduced itself.')),
    protocolVersion: orNull(text()),
    pid: Type.Optional(whole()),
    endpoint: orNull(text('Redacted.')),
    connectedAt: orNull(time()),
    uptimeSeconds: orNull(whole()),
    lastPingMs: orNull(milliseconds),
    lastError: orNull(answer({ code: text(), message: text(), at: time() })),
    restarts: whole(),
    consecutiveFailures: whole(),
    crashLoop: Type.Boolean(),
    nextRetryAt: orNull(time()),
    exit: Type.Optional(answer({ code: orNull(Type.Integer()), signal: orNull(text()) })),
    inFlight: whole(),
    queued: whole(),
    invocations: whole(),
    errors: answer({
      tool: whole(),
      timeout: whole(),
      transport: whole(),
      protocol: whole(),
      cancelled: whole(),
    }),
    latencyMs: ref('Latency'),
    tools: Type.Array(
      answer({
        name: text(),
        invocations: whole(),
        errors: whole('Timeouts included.'),
        timeouts: whole(),
        avgMs: orNull(milliseconds),
        p95Ms: orNull(milliseconds),
        lastInvokedAt: orNull(time()),
      }),
    ),
    invalidTools: Type.Array(answer({ name: text(), reason: text() })),
    stderrTail: Type.Array(text()),
  }),
  ToolStatistics: answer({
    summary: answer({
      total: whole(),
      connected: whole(),
      connecting: whole(),
      backoff: whole(),
      error: whole(),
      toolsTotal: whole(),
      invocations: whole(),
      errors: whole(),
    }),
    servers: Type.Array(ref('ToolServer')),
  }),
  JsonRpc: Type.Object(
    { jsonrpc: oneOf(['2.0']) },
    { description: 'A message of the Model Context Protocol.' },
  ),
};
