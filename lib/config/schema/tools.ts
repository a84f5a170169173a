import { type Static, Type } from '@sinclair/typebox';
import {
  count,
  filledSection,
  flag,
  milliseconds,
  oneOf,
  section,
  size,
  text,
  textList,
  textMap,
} from './build.ts';

/** Commands a stdio tool server may be started with (spec §2.8). */
export const COMMAND_ALLOWLIST = ['node', 'npx', 'python', 'python3', 'uv', 'uvx'] as const;

/** One tool server (spec §2.8, contract §2). Which keys go with which transport is a rule of `rules.ts`. */
export const mcpServerSchema = section({
  name: text('Unique server id, the value of `x-target`.', { format: 'server-name' }),
  transport: oneOf('How the server is reached.', ['stdio', 'http', 'websocket'] as const, 'stdio'),
  autoConnect: flag('Connect at startup instead of at first use.', false),
  connectTimeout: milliseconds('Connection timeout.', { default: 30_000 }),
  toolTimeout: milliseconds('Tool invocation timeout.', { default: 60_000 }),
  allowedTools: textList('If set, only these tools are exposed.'),
  ignoredTools: textList('These tools are hidden; wins over `allowedTools`.'),
  command: Type.Optional(text(`stdio: program to start; one of ${COMMAND_ALLOWLIST.join(', ')}.`)),
  args: Type.Array(Type.String(), { default: [], description: 'stdio: arguments of the program.' }),
  env: textMap('stdio: environment variables of the program.'),
  url: Type.Optional(text('http, websocket: address of the server.')),
  headers: textMap('http: headers sent with every request.'),
  maxConcurrency: count('Calls in flight to this server.', { default: 16 }),
  maxQueue: count('Calls waiting for a place; one more is refused at once.', { default: 64, minimum: 0 }),
  maxResultSize: size('Largest result of one call.', '16mb'),
});

export const mcpSection = filledSection(
  {
    servers: Type.Array(mcpServerSchema, { default: [], description: 'Tool servers.' }),
    security: filledSection(
      {
        strict: flag('Refuse inline-eval flags and loader environment names instead of warning.', false),
      },
      'Rules for stdio servers.',
    ),
  },
  'The tool gateway.',
);

/** A tool that the hub itself offers by calling an HTTP API (contract §2, §6). */
export const hubToolSchema = section({
  name: text('Name of the tool.', {
    pattern: '^[A-Za-z0-9_.-]{1,64}$',
    expected: 'at most 64 letters, digits, `_`, `.` and `-`',
  }),
  description: text('What the tool does, for the model that chooses it.'),
  inputSchema: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description: 'JSON Schema of the arguments.',
    default: { type: 'object' },
  }),
  request: section(
    {
      method: oneOf('HTTP method.', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const, 'GET'),
      url: text('Address; `{name}` takes an argument, encoded for its place.'),
      headers: textMap('Headers; `{name}` takes an argument.'),
      query: textMap('Query parameters; `{name}` takes an argument.'),
      body: Type.Optional(
        Type.Unknown({ description: 'JSON body; a text `{name}` takes an argument as it is.' }),
      ),
    },
    'The call that answers the tool.',
  ),
  timeout: milliseconds('Time for the whole call.', { default: 60_000 }),
});

export type McpServerConfig = Static<typeof mcpServerSchema>;
export type McpConfig = Static<typeof mcpSection>;
export type HubToolConfig = Static<typeof hubToolSchema>;
