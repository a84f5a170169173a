/**
 * The tool server that the conformance runner's scenarios ask for, built from the SDK: every kind of content,
 * logging, progress, errors, sampling and elicitation. Prints `fixture on <port>`.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const resource = {
  type: 'resource',
  resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'An embedded resource.' },
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

async function elicit(extra, message, properties, required = []) {
  const requestedSchema = { type: 'object', properties, required };
  const params = { message, requestedSchema };
  const { action, content } = await extra.sendRequest(
    { method: 'elicitation/create', params },
    ElicitResultSchema,
  );
  return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
}

const titled = [
  { const: 'value1', title: 'First' },
  { const: 'value2', title: 'Second' },
  { const: 'value3', title: 'Third' },
];

/** Each tool: what it takes, and the content that it answers. */
const TOOLS = {
  test_simple_text: { run: () => [text('This is a simple text response for testing.')] },
  test_image_content: { run: () => [image] },
  test_audio_content: { run: () => [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] },
  test_embedded_resource: { run: () => [resource] },
  test_multiple_content_types: { run: () => [text('Several kinds:'), image, resource] },
  test_error_handling: {
    run: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_tool_with_logging: {
    run: async (_args, extra) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
        await pause();
      }
      return [text('logged')];
    },
  },
  test_tool_with_progress: {
    run: async (_args, extra) => {
      const { progressToken } = extra._meta ?? {};
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          const params = { progressToken, progress, total: 100 };
          await extra.sendNotification({ method: 'notifications/progress', params });
        }
        await pause();
      }
      return [text('done')];
    },
  },
  test_sampling: {
    properties: { prompt: { type: 'string' } },
    run: async ({ prompt }, extra) => {
      const messages = [{ role: 'user', content: text(prompt) }];
      const { content } = await extra.sendRequest(
        { method: 'sampling/createMessage', params: { messages, maxTokens: 100 } },
        CreateMessageResultSchema,
      );
      return [text(`LLM response: ${content.text}`)];
    },
  },
  test_elicitation: {
    properties: { message: { type: 'string' } },
    run: async ({ message }, extra) => [
      await elicit(extra, message, { username: { type: 'string' }, email: { type: 'string' } }, [
        'username',
        'email',
      ]),
    ],
  },
  test_elicitation_sep1034_defaults: {
    run: async (_args, extra) => [
      await elicit(extra, 'Defaults of every kind', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
    ],
  },
  test_elicitation_sep1330_enums: {
    run: async (_args, extra) => [
      await elicit(extra, 'Choices of every kind', {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      }),
    ],
  },
  json_schema_2020_12_tool: {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
      },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    run: (args) => [text(JSON.stringify(args))],
  },
};

function toolServer() {
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, logging: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(TOOLS).map(([name, { schema, properties = {} }]) => ({
      name,
      description: `Fixture of the scenario ${name}`,
      inputSchema: schema ?? { type: 'object', properties },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    try {
      return { content: await tool.run(params.arguments ?? {}, extra) };
    } catch (error) {
      return { content: [text(error.message)], isError: true };
    }
  });
  return server;
}

const sessions = new Map();
const http = createServer(async (request, response) => {
  const host = (request.headers.host ?? '').replace(/:\d+$/, '');
  const origin = request.headers.origin;
  if (
    !['127.0.0.1', 'localhost'].includes(host) ||
    (origin && !/^http:\/\/(127\.0\.0\.1|localhost)/.test(origin))
  ) {
    response.writeHead(403).end();
    return;
  }
  const id = request.headers['mcp-session-id'];
  let transport = sessions.get(id);
  if (id === undefined) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (opened) => sessions.set(opened, transport),
    });
    await toolServer().connect(transport);
  }
  if (transport === undefined) response.writeHead(404).end();
  else await transport.handleRequest(request, response);
});
http.listen(0, '127.0.0.1', () => console.log(`fixture on ${http.address().port}`));
