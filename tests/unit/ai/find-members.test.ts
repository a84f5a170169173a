import { describe, expect, test } from '@jest/globals';
import { createMemberFinder } from '../../../lib/ai/body/find-members.ts';

const find = createMemberFinder(['model', 'stream', 'max_tokens']);

/** What the finder says about a text, as texts. */
function found(text: string) {
  const bytes = Buffer.from(text);
  const { spans } = find(bytes);
  return Object.fromEntries(
    Object.entries(spans).map(([name, span]) => [
      name,
      [
        bytes.toString('utf8', span.keyStart, span.keyEnd),
        bytes.toString('utf8', span.valueStart, span.valueEnd),
      ],
    ]),
  );
}

describe('the member finder', () => {
  test.each<[string, Record<string, [string, string]>]>([
    ['{}', {}],
    [' \t\r\n{ \n } ', {}],
    ['{"a":1}', {}],
    ['{"model":"x"}', { model: ['"model"', '"x"'] }],
    [' { "model" : "x" , "stream" : true } ', { model: ['"model"', '"x"'], stream: ['"stream"', 'true'] }],
    ['{"a":{"model":1,"b":[{"stream":2}]},"model":null}', { model: ['"model"', 'null'] }],
    ['{"a":"\\"model\\":1","b":"}","model":-1.5e+10}', { model: ['"model"', '-1.5e+10'] }],
    ['{"a":"\\\\","model":{"x":"}"},"b":2}', { model: ['"model"', '{"x":"}"}'] }],
    ['{"mod\\u0065l":"x"}', { model: ['"mod\\u0065l"', '"x"'] }],
    ['{"\\u006d\\u006f\\u0064\\u0065\\u006c":1}', { model: ['"\\u006d\\u006f\\u0064\\u0065\\u006c"', '1'] }],
    ['{"Model":1,"model ":2,"models":3,"mode":4,"\\\\model":5}', {}],
    ['{"a":12345678901234567890.123456789012345678901,"stream":false}', { stream: ['"stream"', 'false'] }],
    ['{"ä":"🦉","max_tokens":7}', { max_tokens: ['"max_tokens"', '7'] }],
    [`{"a":"${'\\\\'.repeat(60)}","model":1}`, { model: ['"model"', '1'] }],
    [`{"a":"${'x'.repeat(200)}\\"","model":1}`, { model: ['"model"', '1'] }],
    [`{"a":"${'x'.repeat(200)}\\\\","model":1}`, { model: ['"model"', '1'] }],
    [`{"a":"${'x\\"'.repeat(100)}","model":[]}`, { model: ['"model"', '[]'] }],
  ])('finds the owned members of %s', (text, expected) => {
    expect(JSON.parse(text)).toBeDefined();
    expect(found(text)).toEqual(expected);
  });

  test.each([
    '{"model":1,"model":2}',
    '{"model":1,"a":2,"mod\\u0065l":1}',
    '{"mo\\u0064el":1,"mod\\u0065l":1}',
  ])('refuses an owned key that occurs twice: %s [C5-body-owned-twice]', (text) => {
    expect(() => find(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'model' }),
    );
  });

  test('leaves duplicates of other keys alone', () => {
    expect(found('{"a":1,"a":2,"model":3}')).toEqual({ model: ['"model"', '3'] });
  });

  test('agrees with JSON.parse on 3,000 generated objects', () => {
    const random = mulberry32(20261120);
    for (let round = 0; round < 3000; round += 1) {
      const text = generateObject(random);
      const document = JSON.parse(text) as Record<string, unknown>;
      const bytes = Buffer.from(text);
      const { spans, open, isEmpty } = find(bytes);
      expect(isEmpty).toBe(Object.keys(document).length === 0);
      expect(bytes[open - 1]).toBe(0x7b);
      for (const name of ['model', 'stream', 'max_tokens'] as const) {
        const span = spans[name];
        expect(span !== undefined).toBe(Object.hasOwn(document, name));
        if (span === undefined) continue;
        expect(JSON.parse(bytes.toString('utf8', span.keyStart, span.keyEnd))).toBe(name);
        expect(JSON.parse(bytes.toString('utf8', span.valueStart, span.valueEnd))).toEqual(document[name]);
      }
    }
  });
});

/** A small seeded generator, so that a failure can be seen again. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function generateObject(random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const space = () => pick(['', '', '', ' ', '\n', '\t ', '\r\n  ']);
  const escapeSome = (text: string) =>
    [...text]
      .map((char) =>
        random() < 0.1 && char.charCodeAt(0) < 0x10000 && char.length === 1
          ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
          : JSON.stringify(char).slice(1, -1),
      )
      .join('');
  const words = [
    'a',
    'model',
    '"',
    '\\',
    '}',
    ']',
    '{',
    ',',
    ':',
    'ä',
    '🦉',
    '\n',
    'stream',
    ' ',
    'x'.repeat(60),
  ];
  const string = () =>
    `"${escapeSome(Array.from({ length: Math.floor(random() * 6) }, () => pick(words)).join(''))}"`;
  const value = (depth: number): string => {
    const kind = random();
    if (depth > 3 || kind < 0.3) return string();
    if (kind < 0.5)
      return pick(['0', '-1', '1e400', '12345678901234567890', '0.10000000000000000001', '-2.5E-7']);
    if (kind < 0.6) return pick(['true', 'false', 'null']);
    const many = Array.from({ length: Math.floor(random() * 4) });
    if (kind < 0.8)
      return `[${space()}${many.map(() => value(depth + 1)).join(`${space()},${space()}`)}${space()}]`;
    return `{${space()}${many.map(() => member(string(), depth)).join(`,${space()}`)}}`;
  };
  const member = (key: string, depth: number) => `${key}${space()}:${space()}${value(depth + 1)}${space()}`;
  const members: string[] = [];
  for (const owned of ['model', 'stream', 'max_tokens']) {
    if (random() < 0.5) members.push(member(`"${escapeSome(owned)}"`, 0));
  }
  for (let index = Math.floor(random() * 4); index > 0; index -= 1) {
    const key = string();
    if (!['model', 'stream', 'max_tokens'].includes(JSON.parse(key))) members.push(member(key, 0));
  }
  members.sort(() => random() - 0.5);
  return `${space()}{${space()}${members.join(`,${space()}`)}}${space()}`;
}
