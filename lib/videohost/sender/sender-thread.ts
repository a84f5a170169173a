import { Worker } from 'node:worker_threads';
import type { ChunkSender } from './chunk-sender.ts';
import type { Answer } from './exchange.ts';
import type { FromSender, ToSender } from './serve-chunks.ts';

interface Open {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/**
 * Sends in a thread of its own, so that gigabytes on their way out share no event loop with those on their way in, nor
 * with anybody's chat. The thread begins with the first chunk, and anew after it was lost.
 * @param entry script of the thread: one that calls `serveChunks`
 */
export function createSenderThread(entry: URL): ChunkSender {
  const open = new Map<number, Open>();
  let worker: Worker | undefined;
  let lastId = 0;

  function start(): Worker {
    const started = new Worker(entry, { name: 'video-sender' });
    let failure: Error | undefined;
    started.on('message', (message: FromSender) => {
      const call = open.get(message.id);
      open.delete(message.id);
      // Nothing to wait for: the thread holds no process back.
      if (open.size === 0) started.unref();
      if ('answer' in message) call?.resolve(message.answer);
      else call?.reject(Object.assign(new Error(message.message), message.code && { code: message.code }));
    });
    started.on('error', (error) => {
      failure = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      const reason = new Error('The thread that sends videos has ended', { cause: failure });
      for (const call of open.values()) call.reject(reason);
      open.clear();
    });
    return started;
  }

  function post(message: ToSender): void {
    worker?.postMessage(message);
  }

  return {
    async send(chunk, signal) {
      signal.throwIfAborted();
      worker ??= start();
      worker.ref();
      const id = ++lastId;
      const abort = () => post({ id, kind: 'abort' });
      signal.addEventListener('abort', abort, { once: true });
      try {
        return await new Promise<Answer>((resolve, reject) => {
          open.set(id, { resolve, reject });
          post({ id, kind: 'send', chunk });
        });
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    async close() {
      await worker?.terminate();
    },
  };
}
