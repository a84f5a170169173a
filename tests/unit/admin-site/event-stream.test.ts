import { expect, test } from '@jest/globals';
import { eventData } from '../../../admin-site/src/playground/event-stream.ts';

async function read(text: string, size: number): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const events: string[] = [];
  for await (const data of eventData(body)) events.push(data);
  return events;
}

test.each([1, 2, 3, 7, 1000])(
  'events are the same however they are cut: %d bytes at a time',
  async (size) => {
    const text =
      ': comment\n\nevent: x\ndata: {"ü":1}\n\ndata:a\r\ndata: b\r\n\r\ndata: [DONE]\n\ndata: cut off';
    expect(await read(text, size)).toEqual(['{"ü":1}', 'a\nb', '[DONE]']);
  },
);
