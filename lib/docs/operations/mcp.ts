import { json, type OperationGroup, type Parameter, target } from '../operation.ts';

const session: Parameter = {
  in: 'header',
  name: 'mcp-session-id',
  description: 'Session, as the answer to `initialize` named it.',
};
const streamable = { description: 'Of the Model Context Protocol, streamable HTTP.' };

export const mcpOperations: OperationGroup = {
  name: 'Tools',
  description:
    'Tool servers (Model Context Protocol) over REST, and all of them as one MCP server at `/mcp`.',
  operations: [
    {
      method: 'get',
      path: '/mcp/tools',
      summary: 'List the tools',
      access: 'main',
      parameters: [{ in: 'query', name: 'server', description: 'Only those of this server.' }],
      answers: { 200: json('The tools, and the state of their servers.', 'ToolList') },
      errors: ['server_not_found', 'ailink_unavailable'],
    },
    {
      method: 'post',
      path: '/mcp/invoke',
      summary: 'Run a tool',
      description: 'What goes wrong in or before the tool is a 200 with `isError: true`.',
      access: 'main',
      parameters: [{ ...target('Name of the tool server.'), example: 'everything' }],
      body: { contentType: 'application/json', schema: 'InvokeRequest', required: true },
      answers: { 200: json('What the tool says.', 'ToolResult') },
      errors: [
        'invalid_request',
        'invalid_json',
        'target_required',
        'server_not_found',
        'tool_not_found',
        'body_too_large',
        'unsupported_media_type',
        'ailink_unavailable',
      ],
    },
    {
      method: 'get',
      path: '/mcp/stats',
      summary: 'Show connections and counts',
      access: 'main',
      answers: { 200: json('Every server with its tools.', 'ToolStatistics') },
      errors: ['ailink_unavailable'],
    },
    {
      method: 'post',
      path: '/mcp',
      summary: 'Speak MCP',
      ...streamable,
      access: 'main',
      parameters: [session],
      body: { contentType: 'application/json', schema: 'JsonRpc', required: true },
      answers: {
        200: {
          description: 'The answer, or events that end with it.',
          bodies: [
            { contentType: 'application/json', schema: 'JsonRpc' },
            { contentType: 'text/event-stream' },
          ],
        },
        202: { description: 'A notification or an answer was taken.' },
      },
      errors: ['invalid_request', 'cross_site', 'session_not_found', 'ailink_unavailable'],
    },
    {
      method: 'get',
      path: '/mcp',
      summary: 'Open the event stream of a session',
      ...streamable,
      access: 'main',
      parameters: [{ ...session, required: true }],
      answers: {
        200: { description: 'Events of the servers.', bodies: [{ contentType: 'text/event-stream' }] },
      },
      errors: ['invalid_request', 'cross_site', 'session_not_found', 'ailink_unavailable'],
    },
    {
      method: 'delete',
      path: '/mcp',
      summary: 'End a session',
      ...streamable,
      access: 'main',
      parameters: [{ ...session, required: true }],
      answers: { 204: { description: 'It has ended.' } },
      errors: ['invalid_request', 'cross_site', 'session_not_found', 'ailink_unavailable'],
    },
  ],
};
