import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { splitLines } from '../../../gateway/split-lines.ts';

async function linesOf(chunks: (string | Buffer)[]): Promise<string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  splitLines(stream, (line) => lines.push(line));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await new Promise((resolve) => stream.once('close', resolve));
  return lines;
}

test('lines come whole, however the bytes were cut, the last one without an end too', async () => {
  const bytes = Buffer.from('eins\nzwei ü\n\ndrei');
  for (let cut = 1; cut < bytes.length; cut += 1) {
    expect(await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(['eins', 'zwei ü', 'drei']);
  }
});

test('a line without an end is given in pieces', async () => {
  const lines = await linesOf(Array.from({ length: 50 }, () => 'x'.repeat(64 * 1024)));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.join('')).toHaveLength(50 * 64 * 1024);
});
