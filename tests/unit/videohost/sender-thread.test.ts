import { afterEach, expect, test } from '@jest/globals';
import type { ChunkSender } from '../../../lib/videohost/sender/chunk-sender.ts';
import { createSenderThread } from '../../../lib/videohost/sender/sender-thread.ts';

let sender: ChunkSender | undefined;
afterEach(() => sender?.close());

/** A thread that runs `text`, with `port` and what `serveChunks` would get as `message`. */
function threadOf(text: string): ChunkSender {
  const source = `import { parentPort as port } from 'node:worker_threads'; port.on('message', (message) => {${text}});`;
  sender = createSenderThread(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
  return sender;
}

const chunk = (path: string) => ({
  url: 'http://platform/session',
  headers: {},
  path,
  start: 0,
  end: 1,
  silenceMs: 1000,
});
const unaborted = new AbortController().signal;
const ANSWER = `port.postMessage({ id: message.id, answer: { status: 308, headers: {}, text: message.chunk.path } });`;

test('chunks that are sent at once get each its own answer', async () => {
  const { send } = threadOf(
    `if (message.kind === 'send') setTimeout(() => { ${ANSWER} }, message.id === 1 ? 20 : 0)`,
  );
  const answers = await Promise.all(['a', 'b', 'c'].map((path) => send(chunk(path), unaborted)));
  expect(answers.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
});

test('a chunk whose thread ends fails, and the next one begins another thread', async () => {
  const { send } = threadOf(`if (message.chunk.path === 'fatal') process.exit(7); ${ANSWER}`);
  const failed = await Promise.allSettled(['fatal', 'beside'].map((path) => send(chunk(path), unaborted)));
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await send(chunk('next'), unaborted)).toMatchObject({ status: 308, text: 'next' });
});

test('a failure in the thread keeps the code of the system, which tells a full disk from a lost connection', async () => {
  const { send } = threadOf(`port.postMessage({ id: message.id, message: 'it broke', code: 'EIO' })`);
  await expect(send(chunk('a'), unaborted)).rejects.toMatchObject({ message: 'it broke', code: 'EIO' });
});

test('an aborted chunk ends when its thread says that nothing is under way any more', async () => {
  const { send } = threadOf(
    `if (message.kind === 'abort') port.postMessage({ id: message.id, message: 'stopped', code: undefined })`,
  );
  const stop = new AbortController();
  const sending = send(chunk('a'), stop.signal);
  stop.abort();
  await expect(sending).rejects.toThrow('stopped');
  await expect(send(chunk('b'), stop.signal)).rejects.toBe(stop.signal.reason);
});
