import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { readForm } from '../../../lib/videohost/upload-form.ts';

/** Numbers below `limit`, the same in each run (xorshift). */
function randomOf(start: number): (limit: number) => number {
  let state = start;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

interface Part {
  name: string;
  isFile: boolean;
  content: Buffer;
}

function formOf(boundary: string, parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ name, isFile, content }) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${isFile ? '; filename="f"\r\ncontent-type: video/mp4' : ''}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  return Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)));
}

/** Cuts `bytes` into chunks of at most `longest` bytes. */
function* cut(bytes: Buffer, longest: number, random: (limit: number) => number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const length = 1 + random(longest);
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

async function read(chunks: Iterable<Buffer>, boundary: string, maxFileSize = 1e9): Promise<Part[]> {
  const body = Readable.from(chunks, { objectMode: false, highWaterMark: 64 * 1024 });
  const request = Object.assign(body, {
    headers: {
      'content-type': `multipart/form-data; boundary="${boundary}"`,
      'transfer-encoding': 'chunked',
    },
  });
  const parts: Part[] = [];
  await readForm(
    request as unknown as IncomingMessage,
    { target: 'main', maxFileSize, signal: new AbortController().signal },
    {
      onField: (name, value) => void parts.push({ name, isFile: false, content: Buffer.from(value) }),
      onFile(name) {
        const part: Part = { name, isFile: true, content: Buffer.alloc(0) };
        parts.push(part);
        const written: Buffer[] = [];
        return {
          // A slow disk: the next bytes must not overtake these.
          async write(batch) {
            await new Promise(setImmediate);
            written.push(...batch);
          },
          end() {
            part.content = Buffer.concat(written);
          },
        };
      },
    },
  );
  return parts;
}

/** Content in which delimiters begin all the time, and stretches in which none does. */
function treacherous(length: number, boundary: string, random: (limit: number) => number): Buffer {
  const bits = [
    '\r',
    '\n',
    '\r\n',
    '\r\n-',
    '\r\n--',
    `\r\n--${boundary.slice(0, -1)}`,
    `--${boundary}`,
    'x',
  ];
  let content = '';
  while (content.length < length) {
    content += random(3) === 0 ? 'v'.repeat(random(40_000)) : bits[random(bits.length)];
  }
  return Buffer.from(content);
}

/** The same without the delimiter itself. */
function withoutDelimiter(content: Buffer, boundary: string): Buffer {
  return Buffer.from(`x${content.toString('latin1')}`.replaceAll(`\r\n--${boundary}`, 'x'));
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a form is read as it was written, whatever its files hold and however it is cut (%i)',
  async (seed) => {
    const random = randomOf(seed * 7919);
    for (const boundary of ['b', '----WebKitFormBoundary7MA4YWxkTrZu0gW', `-${'long-boundary'.repeat(5)}`]) {
      const files = [0, 1, 2].map(
        (index): Part => ({
          name: `file${index}`,
          isFile: true,
          content: withoutDelimiter(treacherous(random(400_000), boundary, random), boundary),
        }),
      );
      const fields = [0, 1].map(
        (index): Part => ({
          name: `field${index}`,
          isFile: false,
          content: Buffer.from('\r\n--A field'.repeat(random(300))),
        }),
      );
      const parts = [files[0], fields[0], files[1], files[2], fields[1]] as Part[];
      for (const longest of [70_000, 3000]) {
        const found = await read(cut(formOf(boundary, parts), longest, random), boundary);
        expect(found.map(({ name }) => name)).toEqual(parts.map(({ name }) => name));
        for (const [index, { content }] of found.entries()) {
          expect(content.equals(parts[index]?.content as Buffer)).toBe(true);
        }
      }
    }
  },
);

test('a form of any bytes is read or refused, and never waited for', async () => {
  const random = randomOf(42);
  const outcomes = new Set<string>();
  for (let round = 0; round < 60; round += 1) {
    const content = treacherous(random(100_000), 'b', random);
    const form = formOf('b', [
      { name: 'video', isFile: true, content },
      { name: 'captions', isFile: true, content },
    ]);
    const whole = form.subarray(0, form.length - random(2) * random(form.length));
    outcomes.add(
      await read(cut(whole, 70_000, random), 'b').then(
        () => 'read',
        ({ code }) => code,
      ),
    );
  }
  expect([...outcomes].sort()).toEqual(['invalid_request', 'read']);
});

test('a boundary that takes many chunks to come is seen all the same', async () => {
  const boundary = 'b'.repeat(8000);
  const parts = [
    { name: 'video', isFile: true, content: Buffer.alloc(100_000, 'v') },
    { name: 'title', isFile: false, content: Buffer.from('t') },
  ];
  const found = await read(cut(formOf(boundary, parts), 500, randomOf(5)), boundary);
  expect(found.map(({ content }) => content.length)).toEqual([100_000, 1]);
});

test('a file of just the largest size passes, one of a byte more does not', async () => {
  const form = (size: number) =>
    formOf('b', [{ name: 'video', isFile: true, content: Buffer.alloc(size, 'v') }]);
  const largest = 300_000;
  const chunks = (size: number) => cut(form(size), 70_000, randomOf(size));
  await expect(read(chunks(largest), 'b', largest)).resolves.toHaveLength(1);
  await expect(read(chunks(largest + 1), 'b', largest)).rejects.toMatchObject({ code: 'body_too_large' });
});
