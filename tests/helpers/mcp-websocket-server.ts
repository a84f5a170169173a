import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';

export interface WebSocketServerOptions {
  /** Whether the handshake echoes the subprotocol `mcp`. */
  subprotocol?: 'echo' | 'ignore';
  /** Accepts connections and answers no handshake. */
  silent?: boolean;
  /** The `token` that the query must carry, else 401. */
  token?: string;
}

export interface TestWebSocketServer {
  url: string;
  /** Handshakes so far. */
  connections(): number;
  /** Drops all connections at once. */
  drop(): void;
  /** Stops reading and answering, pongs included, while the sockets stay open. */
  freeze(): void;
  stop(): Promise<void>;
}

/** An MCP server of the SDK over a websocket, which the SDK itself offers no server for. */
export async function startWebSocketServer(
  options: WebSocketServerOptions = {},
): Promise<TestWebSocketServer> {
  const http: HttpServer = createServer();
  const sockets = new Set<WebSocket>();
  const raw = new Set<{ destroy(): void }>();
  let connections = 0;
  http.on('connection', (socket) => raw.add(socket));

  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) =>
      options.subprotocol !== 'ignore' && offered.has('mcp') ? 'mcp' : (false as const),
  });
  http.on('upgrade', (request, socket, head) => {
    if (options.silent) return;
    const token = new URL(request.url ?? '/', 'http://x').searchParams.get('token');
    if (options.token !== undefined && token !== options.token) {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    server.handleUpgrade(request, socket, head, (client) => {
      connections += 1;
      sockets.add(client);
      void toolServer().connect(transportOf(client));
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const query = options.token === undefined ? '' : `?token=${options.token}`;

  return {
    url: `ws://127.0.0.1:${port}/mcp${query}`,
    connections: () => connections,
    drop() {
      for (const socket of sockets) socket.terminate();
    },
    freeze() {
      for (const socket of sockets) socket.pause();
    },
    async stop() {
      for (const socket of raw) socket.destroy();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function toolServer(): McpServer {
  const server = new McpServer({ name: 'websocket-fixture', version: '1' });
  server.registerTool('echo', { inputSchema: { message: z.string() } }, ({ message }) => ({
    content: [{ type: 'text', text: message }],
  }));
  server.registerTool('big', { inputSchema: { bytes: z.number() } }, ({ bytes }) => ({
    content: [{ type: 'text', text: 'x'.repeat(bytes) }],
  }));
  server.registerTool('silent', {}, () => new Promise<never>(() => {}));
  server.registerTool('wait-for-cancel', {}, async (extra) => {
    await new Promise((resolve) => extra.signal.addEventListener('abort', resolve));
    return { content: [] };
  });
  return server;
}

function transportOf(socket: WebSocket): Transport {
  const transport: Transport = {
    async start() {
      socket.on('message', (data) => {
        transport.onmessage?.(JSON.parse(data.toString()) as JSONRPCMessage);
      });
      socket.on('close', () => transport.onclose?.());
    },
    async send(message) {
      socket.send(JSON.stringify(message));
    },
    async close() {
      socket.close();
    },
  };
  return transport;
}
