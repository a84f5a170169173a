import type { Dispatcher } from 'undici';
import { createOutboundDispatcher } from '../../http-client/outbound-dispatcher.ts';
import type { OutboundProxy } from '../../http-client/outbound-proxy.ts';
import { type Answer, exchange } from './exchange.ts';
import { createRangeReader } from './range-reader.ts';

/** Bytes of a file on their way to the platform, as one PUT. */
export interface Chunk {
  url: string;
  headers: Record<string, string>;
  /** The file, its first byte and the byte after the last. */
  path: string;
  start: number;
  end: number;
  /** Milliseconds that the platform may fall silent. */
  silenceMs: number;
}

/** Where the bytes of videos leave: in the thread of its caller or in one of its own (`createSenderThread`). */
export interface ChunkSender {
  /** Sends a chunk. Rejects when it cannot be read, the network fails or `signal` aborts; nothing is under way then. */
  send(chunk: Chunk, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Connections to the platform, without clocks: its users have their own, which know what a slow upload is. */
export function createPlatformDispatcher(proxy: OutboundProxy): Dispatcher {
  return createOutboundDispatcher(proxy, {
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Sends in the thread of its caller. */
export function createChunkSender(proxy: OutboundProxy): ChunkSender {
  const dispatcher = createPlatformDispatcher(proxy);
  const readRange = createRangeReader();
  return {
    send({ url, headers, path, start, end, silenceMs }, signal) {
      const body = readRange(path, start, end);
      return exchange(dispatcher, { method: 'PUT', url, headers, body, silenceMs }, signal);
    },
    close: () => dispatcher.destroy(),
  };
}
