import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One JSON-RPC message as the server received it. */
export interface Received {
  httpMethod: string;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: any JSON-RPC message
  message: any;
}

export interface TestHttpServer {
  url: string;
  origin: string;
  received: Received[];
  /** Answers one tool; replaces the default, which echoes the arguments. */
  onCall: ((response: ServerResponse, id: number, args: Record<string, unknown>) => void) | undefined;
  /** Answers anything first; true when it did. */
  intercept:
    | ((request: IncomingMessage, response: ServerResponse, received: Received) => boolean)
    | undefined;
  /** The session id given out at initialize; none while undefined. */
  sessionId: string | undefined;
  /** Whether the server says that it announces changes. */
  announces: boolean;
  calls(method: string): Received[];
  /** Ends all connections and stops listening; `listen` begins again on the same port. */
  stop(): Promise<void>;
  listen(): Promise<void>;
}

/** A streamable HTTP tool server with one tool, `work`, whose every step a test may change. */
export async function startHttpServer(): Promise<TestHttpServer> {
  const sockets = new Set<Socket>();
  const http = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const message = body === '' ? undefined : JSON.parse(body);
      const received = { httpMethod: request.method ?? '', headers: request.headers, message };
      test.received.push(received);
      if (test.intercept?.(request, response, received)) return;
      answer(response, received);
    });
  });
  http.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  function answer(response: ServerResponse, { httpMethod, message }: Received): void {
    if (httpMethod !== 'POST') {
      response.writeHead(httpMethod === 'DELETE' ? 200 : 405).end();
    } else if (message.id === undefined) {
      response.writeHead(202).end();
    } else if (message.method === 'initialize') {
      const headers = test.sessionId === undefined ? {} : { 'mcp-session-id': test.sessionId };
      json(response, message.id, initialized(message, test.announces), headers);
    } else if (message.method === 'tools/list') {
      json(response, message.id, { tools: [{ name: 'work', inputSchema: { type: 'object' } }] });
    } else if (message.method === 'tools/call' && test.onCall !== undefined) {
      test.onCall(response, message.id, message.params.arguments);
    } else if (message.method === 'tools/call') {
      json(response, message.id, {
        content: [{ type: 'text', text: JSON.stringify(message.params.arguments) }],
      });
    } else {
      json(response, message.id, {});
    }
  }

  let port = 0;
  const listen = async () => {
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
    port = (http.address() as AddressInfo).port;
  };
  await listen();
  const test: TestHttpServer = {
    url: `http://127.0.0.1:${port}/mcp`,
    origin: `http://127.0.0.1:${port}`,
    received: [],
    onCall: undefined,
    intercept: undefined,
    sessionId: undefined,
    announces: false,
    calls: (method) => test.received.filter(({ message }) => message?.method === method),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => http.close(resolve));
    },
    listen,
  };
  return test;
}

// biome-ignore lint/suspicious/noExplicitAny: any JSON-RPC message
function initialized(message: any, listChanged: boolean) {
  return {
    protocolVersion: message.params.protocolVersion,
    capabilities: { tools: { listChanged } },
    serverInfo: { name: 'http-fixture', version: '1' },
  };
}

/** Answers one request with plain JSON. */
export function json(response: ServerResponse, id: number, result: unknown, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** A tool result with one text. */
export const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

/** One server-sent event. */
export function sse(message: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`;
}
