import type { MessagePort } from 'node:worker_threads';
import type { OutboundProxy } from '../../http-client/outbound-proxy.ts';
import { systemCodeOf } from '../system-code.ts';
import { type Chunk, createChunkSender } from './chunk-sender.ts';
import type { Answer } from './exchange.ts';

/** To the thread that sends. */
export type ToSender = { id: number; kind: 'send'; chunk: Chunk } | { id: number; kind: 'abort' };

/** From it: one for each chunk. */
export type FromSender =
  | { id: number; answer: Answer }
  | { id: number; message: string; code: string | undefined };

/** The work of the thread behind `createSenderThread`: sends what the port asks for. */
export function serveChunks(port: Pick<MessagePort, 'on' | 'postMessage'>, proxy: OutboundProxy): void {
  const sender = createChunkSender(proxy);
  const running = new Map<number, AbortController>();
  const tell = (message: FromSender) => port.postMessage(message);

  async function send(id: number, chunk: Chunk): Promise<void> {
    const stop = new AbortController();
    running.set(id, stop);
    try {
      tell({ id, answer: await sender.send(chunk, stop.signal) });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // Of an error a message carries no further than its text.
      tell({ id, message, code: systemCodeOf(error) });
    } finally {
      running.delete(id);
    }
  }

  port.on('message', (message: ToSender) => {
    if (message.kind === 'send') void send(message.id, message.chunk);
    else running.get(message.id)?.abort();
  });
}
