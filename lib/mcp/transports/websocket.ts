import { WebSocket } from 'ws';
import { ToolFailure } from '../failure.ts';
import { httpFailure } from './http-failure.ts';
import { networkFailure } from './network-failure.ts';
import { addressRefused, isRefusedAddress, safeLookup } from './network-rules.ts';
import type { Transport, TransportEvents, TransportFactory } from './transport.ts';

export interface WebSocketOptions {
  /** ws or wss; credentials in the query. */
  url: string;
  /** Bytes of one message; a larger one ends the connection, as the protocol has it. */
  maxMessageBytes: number;
  handshakeMs: number;
  /** A peer that answers no ping by the next one is gone. */
  pingEveryMs: number;
  /** For the closing handshake. */
  farewellMs: number;
}

const SUBPROTOCOL = 'mcp';
/** Bytes that may wait for a peer that does not read. */
const MAX_UNREAD_OUTPUT = 256 * 1024 * 1024;
const MESSAGE_TOO_BIG = 1009;

/**
 * MCP over a websocket. On `ws` and not the SDK's client: that one needs a global WebSocket, waits for ever on a
 * handshake that nobody answers, notices no frozen peer, and refuses servers that echo no subprotocol.
 */
export function webSocketTransport(options: WebSocketOptions): TransportFactory {
  return (events) => createWebSocketTransport(options, events);
}

function createWebSocketTransport(options: WebSocketOptions, events: TransportEvents): Transport {
  let socket: WebSocket | undefined;
  let pinger: NodeJS.Timeout | undefined;
  let isOver = false;

  async function open(signal: AbortSignal): Promise<void> {
    if (isRefusedAddress(new URL(options.url).hostname)) throw addressRefused();
    try {
      await connect([SUBPROTOCOL], signal);
    } catch (error) {
      if (!isMissingSubprotocol(error)) throw openFailure(error);
      // Servers that know no subprotocols are common; the handshake itself was fine.
      await connect([], signal).catch((second) => {
        throw openFailure(second);
      });
    }
  }

  function connect(subprotocols: string[], signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const candidate = new WebSocket(options.url, subprotocols, {
        handshakeTimeout: options.handshakeMs,
        maxPayload: options.maxMessageBytes,
        perMessageDeflate: false,
        followRedirects: false,
        lookup: safeLookup,
      });
      const give = (error: unknown) => {
        candidate.terminate();
        reject(error);
      };
      const abort = () => give(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      candidate.once('unexpected-response', (_request, response) => {
        give(httpFailure(response.statusCode ?? 0, undefined, false));
      });
      // Stays for the whole life: an error event without a listener would end the companion.
      candidate.on('error', give);
      candidate.once('open', () => {
        signal.removeEventListener('abort', abort);
        use(candidate);
        resolve();
      });
    });
  }

  function use(opened: WebSocket): void {
    socket = opened;
    let heard = true;
    opened.on('message', (data, isBinary) => {
      heard = true;
      if (isBinary) events.note('a binary message was ignored');
      else events.message(data.toString());
    });
    opened.on('pong', () => {
      heard = true;
    });
    let error: Error | undefined;
    opened.on('error', (cause) => {
      error = cause;
    });
    opened.on('close', (code) => gone(closeFailure(code, error)));
    pinger = setInterval(() => {
      if (!heard) {
        gone(new ToolFailure('transport', 'ping_timeout', 'The tool server answered no ping'));
        opened.terminate();
        return;
      }
      heard = false;
      opened.ping();
    }, options.pingEveryMs).unref();
  }

  function gone(failure: ToolFailure): void {
    clearInterval(pinger);
    if (isOver) return;
    isOver = true;
    events.closed(failure);
  }

  function send(text: string, id?: number): void {
    const usable = socket?.readyState === WebSocket.OPEN && socket.bufferedAmount < MAX_UNREAD_OUTPUT;
    if (usable) socket?.send(text);
    else if (id !== undefined) {
      events.requestFailed(
        id,
        new ToolFailure('transport', 'not_connected', 'The tool server is not connected', {
          neverSent: true,
        }),
      );
    }
  }

  function close(): Promise<void> {
    isOver = true;
    clearInterval(pinger);
    const open = socket;
    if (open === undefined || open.readyState === WebSocket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => open.terminate(), options.farewellMs);
      open.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      open.close(1000);
    });
  }

  return { open, send, release() {}, negotiated() {}, facts: () => ({}), close };
}

function isMissingSubprotocol(error: unknown): boolean {
  return error instanceof Error && /server sent no subprotocol/i.test(error.message);
}

function openFailure(error: unknown): ToolFailure {
  if (error instanceof Error && /handshake has timed out/i.test(error.message)) {
    return new ToolFailure('transport', 'connect_timeout', 'The tool server answered no handshake');
  }
  return networkFailure(error);
}

function closeFailure(code: number, error: Error | undefined): ToolFailure {
  const tooBig =
    code === MESSAGE_TOO_BIG ||
    (error !== undefined && 'code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH');
  return tooBig
    ? new ToolFailure('protocol', 'result_too_large', 'A message of the tool server was too large')
    : new ToolFailure('transport', 'connection_lost', 'The tool server closed the connection');
}
