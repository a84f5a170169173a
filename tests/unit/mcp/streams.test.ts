import { describe, expect, test } from '@jest/globals';
import { findId } from '../../../lib/mcp/rpc-answer.ts';
import { createLineSplitter } from '../../../lib/mcp/transports/line-splitter.ts';
import { createSseParser, type SseEvent } from '../../../lib/mcp/transports/sse-parser.ts';

/** Feeds `text` in chunks of `size` bytes. */
function feed(push: (chunk: Buffer) => void, text: string, size: number): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) push(Buffer.from(bytes.subarray(at, at + size)));
}

describe.each([1, 2, 3, 7, 1000])('in chunks of %d bytes', (size) => {
  test('lines come whole, and long ones are dropped with their ends kept', () => {
    const lines: string[] = [];
    const dropped: [string, string][] = [];
    const splitter = createLineSplitter({
      maxBytes: 600,
      line: (line) => lines.push(line),
      dropped: (head, tail) => dropped.push([head, tail]),
    });
    const long = `begin${'x'.repeat(2000)}end`;
    feed(splitter.push, `one\n\nzwei ü\n${long}\n${'y'.repeat(600)}\nlast\nnot ended`, size);
    expect(lines).toEqual(['one', 'zwei ü', 'y'.repeat(600), 'last']);
    expect(dropped).toEqual([[`begin${'x'.repeat(251)}`, `${'x'.repeat(253)}end`]]);
  });

  test('events come whole, with any line ends, names, ids and retries', () => {
    const events: SseEvent[] = [];
    const parser = createSseParser({
      maxLength: 1000,
      event: (event) => events.push(event),
      overflow: () => expect('no overflow').toBe('overflow'),
    });
    feed(
      parser.push,
      ': comment\n\nid: 7\ndata:\n\nevent: endpoint\ndata: /m?s=1\n\nretry: 30\ndata: a\ndata:b\r\n\r\nid\ndata: ü\r\r',
      size,
    );
    expect(events).toEqual([
      { name: 'endpoint', data: '/m?s=1' },
      { name: 'message', data: 'a\nb' },
      { name: 'message', data: 'ü' },
    ]);
    expect([parser.lastEventId(), parser.retryMs()]).toEqual(['', 30]);
  });
});

test('an event that grows past the bound is reported once, and nothing after it', () => {
  let overflows = 0;
  const events: SseEvent[] = [];
  const parser = createSseParser({
    maxLength: 50,
    event: (event) => events.push(event),
    overflow: () => {
      overflows += 1;
    },
  });
  feed(parser.push, `data: ${'x'.repeat(500)}\n\ndata: ok\n\n`, 10);
  expect([overflows, events]).toEqual([1, []]);
});

describe('findId', () => {
  test.each([
    ['{"jsonrpc":"2.0","id":12,"result":{"content":[', '...', 12],
    ['{"id": 7 , "result"', '...', 7],
    ['{"result":{"content":[{"text":"x', 'yz"}]},"jsonrpc":"2.0","id":34}', 34],
    ['{"result":{"content"', '"}]},"id":5,"jsonrpc":"2.0"} ', 5],
  ])('finds whose answer %s … %s is', (head, tail, id) => {
    expect(findId(head, tail)).toBe(id);
  });

  test.each([
    ['{"method":"x","params":{"a":"', '"params":{"id":9}}'],
    ['{"result":"', 'fake \\"id\\":9}"}'],
    ['{"id":"text","result"', '}}'],
  ])('takes nothing else for it: %s … %s', (head, tail) => {
    expect(findId(head, tail)).toBeUndefined();
  });
});
