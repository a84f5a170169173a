import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { createJsonMask, createMask } from '../../../lib/logging/mask.ts';
import { createRecordWriter } from '../../../lib/logging/record.ts';

const NOW = Date.parse('2026-03-04T05:06:07.008Z');
const secrets = ['hunter2-hunter2'];
const write = createRecordWriter({
  now: () => NOW,
  mask: createMask(secrets),
  maskJson: createJsonMask(secrets),
});
const record = (fields: Record<string, unknown>, message = 'm') =>
  JSON.parse(write('info', 'http', message, fields));

describe('a log record', () => {
  test('is one line of JSON with level, timestamp, module and message first [S2.1-log-json]', () => {
    expect(write('warn', 'http', 'slow', { requestId: 'r1', status: 200, ok: true, gone: null })).toBe(
      '{"level":"warn","timestamp":"2026-03-04T05:06:07.008Z","module":"http","message":"slow","requestId":"r1","status":200,"ok":true,"gone":null}',
    );
  });

  test('cannot be forged by line ends, separators or control characters', () => {
    const hostile = 'a\n{"level":"error"}\r\u2028\u2029\u0085\u001b[31m\u009b31m\u007f';
    const line = write('info', 'http', hostile, { [`k${hostile}`]: hostile });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    expect(JSON.parse(line)).toMatchObject({ message: hostile, [`k${hostile}`]: hostile });
  });

  test('does not let a field stand in for what the logger says', () => {
    const line = write('info', 'http', 'm', {
      level: 'error',
      timestamp: 'x',
      module: 'y',
      message: 'z',
      a: 1,
    });
    expect(JSON.parse(line)).toEqual({
      level: 'info',
      timestamp: '2026-03-04T05:06:07.008Z',
      module: 'http',
      message: 'm',
      a: 1,
    });
    expect(line.match(/"level"/g)).toHaveLength(1);
  });

  test('leaves out undefined, and shows what JSON has no form for', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(record({ u: undefined, f: () => 1, big: 12n, nan: Number.NaN, cycle })).toEqual({
      level: 'info',
      timestamp: '2026-03-04T05:06:07.008Z',
      module: 'http',
      message: 'm',
      big: '12',
      nan: null,
      cycle: '[not serialisable]',
    });
  });

  test('cuts secrets out of message, fields, names and errors [C8-secret-cut]', () => {
    const error = new Error('key hunter2-hunter2 refused', { cause: 'hunter2-hunter2' });
    const line = write('error', 'http', 'at hunter2-hunter2', {
      deep: { list: ['hunter2-hunter2'] },
      'hunter2-hunter2': 1,
      error,
    });
    expect(line).not.toContain('hunter2');
    expect(JSON.parse(line).error.message).toBe('key [REDACTED] refused');
  });

  test('is bounded, and a cut leaves no half of a secret', () => {
    const long = `${'x'.repeat(16_380)}hunter2-hunter2${'y'.repeat(100_000)}`;
    const line = write('info', 'http', long, { long, deep: { long } });
    expect(line.length).toBeLessThan(80_000);
    expect(line).not.toContain('hunt');
  });
});

describe('an error in a record', () => {
  test('has name, message, code, stack frames and its chain of causes', () => {
    const cause = Object.assign(new TypeError('inner'), { code: 'ECONNREFUSED' });
    const { error } = record({ error: new RangeError('outer', { cause }) });
    expect(error).toMatchObject({
      name: 'RangeError',
      message: 'outer',
      stack: expect.stringMatching(/^ {4}at /),
      cause: { name: 'TypeError', message: 'inner', code: 'ECONNREFUSED', stack: expect.any(String) },
    });
    expect(error.stack).not.toContain('outer');
  });

  test('does not dump what a vendor hangs on it, nor by its toJSON', () => {
    const vendor = Object.assign(new Error('failed'), {
      config: { headers: { Authorization: 'Bearer unknown-token' } },
      response: { data: 'unknown-token' },
      toJSON: () => ({ config: 'unknown-token' }),
    });
    expect(write('error', 'x', 'm', { vendor, nested: { deep: [vendor] } })).not.toContain('unknown-token');
  });

  test('from another realm is an error too', () => {
    const { error } = record({ error: runInNewContext('new Error("elsewhere")') });
    expect(error).toMatchObject({ name: 'Error', message: 'elsewhere' });
  });

  test('is bounded in size and depth, also as a cycle of causes', () => {
    const first = new Error('x'.repeat(1_000_000));
    const second = new Error('second', { cause: first });
    first.cause = second;
    const line = write('error', 'x', 'm', { error: first });
    expect(line.length).toBeLessThan(60_000);
    const { error } = JSON.parse(line);
    expect(error.cause).toMatchObject({ message: 'second', cause: { name: 'Error' } });
    expect(line.match(/"second"/g)).toHaveLength(3);
  });

  test('shows the first errors of many', () => {
    const errors = Array.from({ length: 50 }, (_, at) => new Error(`e${at}`));
    const { error } = record({ error: new AggregateError(errors, 'all failed') });
    expect(error.errors.map((inner: Error) => inner.message)).toEqual(['e0', 'e1', 'e2', 'e3', 'e4']);
  });

  test('whose fields throw when read is shown all the same', () => {
    const hostile = Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('no');
      },
    });
    expect(record({ hostile }).hostile).toMatchObject({ name: 'Error', message: '' });
  });
});
