import { describe, expect, test } from '@jest/globals';
import { memberText, onOneLine, withMembers } from '../../../lib/mcp/json-spans.ts';

describe('memberText', () => {
  test.each([
    ['{"a":1}', '1'],
    ['{ "b" : [ ] , "a" : { "x" : [1, {"y": "}"}] } }', '{ "x" : [1, {"y": "}"}] }'],
    ['{"a":"quote \\" and brace }"}', '"quote \\" and brace }"'],
    ['{"a":"ends with backslash \\\\","b":2}', '"ends with backslash \\\\"'],
    ['{"a":-1.50e+10}', '-1.50e+10'],
    ['{"a":12345678901234567890 }', '12345678901234567890'],
    ['{"a":null,"z":{}}', 'null'],
    ['{"\\u0061":true}', 'true'],
    ['{"a":1,"a":2}', '2'],
    ['\n\t{\r\n"a"\n:\nfalse\n}', 'false'],
    ['{"b":{"a":1},"a":[]}', '[]'],
    ['{"":0,"a":"x"}', '"x"'],
  ])('cuts the member out of %s as it was written', (text, expected) => {
    expect(memberText(text, 'a')).toBe(expected);
    expect(JSON.parse(expected)).toEqual(JSON.parse(text).a);
  });

  test.each(['{}', '{"b":{"a":1}}', '{"b":"\\"a\\":1"}', ' { } '])('finds none in %s', (text) => {
    expect(memberText(text, 'a')).toBeUndefined();
  });

  test('is quick on large texts', () => {
    const large = `{"x":"${'y'.repeat(16 * 1024 * 1024)}","a":7}`;
    const startedAt = performance.now();
    expect(memberText(large, 'a')).toBe('7');
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});

test('withMembers adds to empty and to full objects', () => {
  expect(withMembers('{}', '"a":1')).toBe('{"a":1}');
  expect(withMembers('{ \n}', '"a":1')).toBe('{ \n"a":1}');
  expect(withMembers('{"b":"}"} ', '"a":1')).toBe('{"b":"}","a":1}');
});

test('onOneLine takes line ends out and keeps the value', () => {
  const pretty = JSON.stringify({ a: ['line\nend', 1] }, null, 2);
  expect(onOneLine(pretty)).not.toMatch(/[\r\n]/);
  expect(JSON.parse(onOneLine(pretty))).toEqual(JSON.parse(pretty));
});
