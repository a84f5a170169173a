import { describe, expect, test } from '@jest/globals';
import { AnswerParser } from '../../../lib/http-client/answer-parser.ts';

interface Told {
  heads: [status: number, headers: object][];
  body: string;
  isDone: boolean;
  keepsAlive: boolean;
}

/** Reads an answer in pieces of `size` bytes; one more after its end is `excess`. */
function read(text: string, size = text.length, isTunnel = false): Told {
  const parser = new AnswerParser();
  const heads: Told['heads'] = [];
  const chunks: Buffer[] = [];
  parser.begin(
    {
      onHead: (status, headers) => void heads.push([status, { ...headers }]),
      onData: (chunk) => void chunks.push(Buffer.from(chunk)),
      onEnd() {},
      onError() {},
    },
    isTunnel,
  );
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += size) parser.read(bytes.subarray(at, at + size));
  return {
    heads,
    body: Buffer.concat(chunks).toString('latin1'),
    isDone: parser.isDone,
    keepsAlive: parser.keepsAlive,
  };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const sized = `${OK}Content-Length: 5\r\nX-Two: a\r\nx-two:  b \t\r\nx-empty:\r\n\r\nhello`;
const chunked = `${OK}Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\nA;name="v"\r\n, everyone\r\n0\r\nX-Trailer: t\r\n\r\n`;

describe('an answer of HTTP/1.1', () => {
  test.each<[string, string, string]>([
    ['with a length', sized, 'hello'],
    ['in chunks, with extensions and trailers', chunked, 'hello, everyone'],
    [
      'after interim answers',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\n${sized}`,
      'hello',
    ],
    ['without a body', 'HTTP/1.1 204\r\n\r\n', ''],
    ['with an empty one', `${OK}content-length: 0\r\n\r\n`, ''],
  ])('%s is the same however it is cut', (_, text, body) => {
    const whole = read(text);
    expect(whole).toMatchObject({ body, isDone: true, keepsAlive: true });
    expect(whole.heads).toHaveLength(1);
    for (let size = 1; size < text.length; size += 1) expect(read(text, size)).toEqual(whole);
  });

  test('has its names in lower case, its values without blanks around, and repeated ones in a list', () => {
    expect(read(sized).heads).toEqual([[200, { 'content-length': '5', 'x-two': ['a', 'b'], 'x-empty': '' }]]);
  });

  test('without length and coding goes on until its connection ends', () => {
    const parser = new AnswerParser();
    let body = '';
    const onData = (chunk: Buffer) => {
      body += chunk;
    };
    parser.begin({ onHead() {}, onData, onEnd() {}, onError() {} });
    parser.read(Buffer.from(`${OK}\r\nhel`));
    parser.read(Buffer.from('lo'));
    expect([body, parser.isDone, parser.endsHere]).toEqual(['hello', false, true]);
  });

  test.each([
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'connection: close\r\n', false],
    ['HTTP/1.1', 'connection: x, Close\r\n', false],
    ['HTTP/1.1', 'connection: keep-alive\r\n', true],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'connection: Keep-Alive\r\n', true],
  ])('%s %j leaves its connection open: %s', (version, line, keepsAlive) => {
    expect(read(`${version} 200 OK\r\n${line}content-length: 0\r\n\r\n`).keepsAlive).toBe(keepsAlive);
  });

  test.each([
    ['timeout=5, max=100', 5000],
    ['max=100,timeout = 7', 7000],
    ['max=100', undefined],
    ['maxtimeout=9', undefined],
  ])('Keep-Alive: %s is a patience of %s ms', (value, expected) => {
    const parser = new AnswerParser();
    parser.begin({ onHead() {}, onData() {}, onEnd() {}, onError() {} });
    parser.read(Buffer.from(`${OK}keep-alive: ${value}\r\ncontent-length: 0\r\n\r\n`));
    expect(parser.idleMs).toBe(expected);
  });

  test('followed by bytes that nobody asked for costs its connection', () => {
    expect(read(`${sized}x`)).toMatchObject({ body: 'hello', isDone: true, keepsAlive: false });
    expect(read(`${chunked}x`)).toMatchObject({ isDone: true, keepsAlive: false });
  });

  test('to CONNECT has no body when it is a success', () => {
    expect(read(`${OK}content-length: 5\r\n\r\n`, undefined, true)).toMatchObject({ isDone: true });
    expect(read('HTTP/1.1 407 No\r\ncontent-length: 5\r\n\r\n', undefined, true).isDone).toBe(false);
  });

  test('that is stopped tells nothing more, not even of the chunk in hand', () => {
    const parser = new AnswerParser();
    let told = 0;
    parser.begin({
      onHead: () => parser.stop(),
      onData() {
        told += 1;
      },
      onEnd() {},
      onError() {},
    });
    parser.read(Buffer.from(sized));
    expect([told, parser.isDone, parser.keepsAlive]).toEqual([0, true, false]);
  });
});

const long = (length: number) => 'x'.repeat(length);

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status out of range', 'HTTP/1.1 600 OK\r\n\r\n'],
  ['a change of protocol', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n'],
  ['a bare line feed', 'HTTP/1.1 200 OK\nx: y\r\n\r\n'],
  ['a bare carriage return', `${OK}x: a\rb\r\n\r\n`],
  ['a null byte', `${OK}x: a\0b\r\n\r\n`],
  ['a header without a colon', `${OK}x\r\n\r\n`],
  ['a header without a name', `${OK}: x\r\n\r\n`],
  ['a blank before the colon', `${OK}content-length : 5\r\n\r\n`],
  ['a folded header', `${OK}x: a\r\n b\r\n\r\n`],
  ['a colon only in the next line', `${OK}x\r\ny: z\r\n\r\n`],
  ['a length and a coding', `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['two lengths', `${OK}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
  ['a length given twice', `${OK}content-length: 5\r\ncontent-length: 5\r\n\r\nhello`],
  ['a list of lengths', `${OK}content-length: 5, 5\r\n\r\n`],
  ['a length with a sign', `${OK}content-length: +5\r\n\r\n`],
  ['a length beyond all measure', `${OK}content-length: 9999999999999999\r\n\r\n`],
  ['an empty length', `${OK}content-length:\r\n\r\n`],
  ['another coding', `${OK}transfer-encoding: gzip, chunked\r\n\r\n`],
  ['a coding given twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['a chunk without a size', `${OK}transfer-encoding: chunked\r\n\r\n\r\n`],
  ['a chunk size that is no number', `${OK}transfer-encoding: chunked\r\n\r\n0x5\r\nhello\r\n`],
  ['a chunk size beyond all measure', `${OK}transfer-encoding: chunked\r\n\r\n1000000000000\r\n`],
  ['a chunk line ended by a line feed', `${OK}transfer-encoding: chunked\r\n\r\n5\nhello\r\n`],
  ['an extension ended by a line feed', `${OK}transfer-encoding: chunked\r\n\r\n5;x\nhello\r\n`],
  ['an endless extension', `${OK}transfer-encoding: chunked\r\n\r\n5;${long(2000)}`],
  ['a chunk longer than it says', `${OK}transfer-encoding: chunked\r\n\r\n4\r\nhello\r\n`],
  ['a trailer ended by a line feed', `${OK}transfer-encoding: chunked\r\n\r\n0\r\nx: y\n\r\n`],
  ['endless trailers', `${OK}transfer-encoding: chunked\r\n\r\n0\r\n${`x: ${long(1000)}\r\n`.repeat(17)}`],
  ['an endless head', `${OK}${`x: ${long(1000)}\r\n`.repeat(17)}`],
  ['a long head that ends', `${OK}${`x: ${long(1000)}\r\n`.repeat(17)}\r\n`],
])('an answer with %s is refused, however it is cut', (_, text) => {
  for (const size of [text.length, 1, 7]) {
    expect(() => read(text, size)).toThrow(expect.objectContaining({ code: 'MALFORMED_ANSWER' }));
  }
});
