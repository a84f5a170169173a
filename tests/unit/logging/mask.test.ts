import { describe, expect, test } from '@jest/globals';
import { createJsonMask, createMask } from '../../../lib/logging/mask.ts';

const SECRETS = [
  'sk-plain-0123456789',
  'with "quotes" and \\ and\nnewline',
  'slash/plus+equals=&?ü%',
  'sk-plain-0123456789-and-longer',
  '0123456789',
];

describe('createMask', () => {
  const mask = createMask(SECRETS);

  test.each(SECRETS)('cuts out %j raw, JSON-escaped and percent-encoded [C8-secret-cut]', (secret) => {
    const spellings = [
      secret,
      JSON.stringify(secret),
      JSON.stringify(JSON.stringify(secret)),
      encodeURIComponent(secret),
      encodeURIComponent(secret).toLowerCase(),
      encodeURIComponent(secret).replaceAll('%20', '+'),
      String(new URLSearchParams({ q: secret })),
      new URL(`http://h/?q=${encodeURIComponent(secret)}`).href,
    ];
    for (const spelling of spellings) {
      const masked = mask(`before ${spelling} after`);
      expect(masked).toContain('[REDACTED]');
      expect(masked).toMatch(/^before .* after$/s);
      for (const part of secret.split(/[^\w-]+/).filter((word) => word.length > 3)) {
        expect(masked).not.toContain(part);
      }
    }
  });

  test('cuts out the longer of two secrets whole', () => {
    expect(mask('x sk-plain-0123456789-and-longer y')).toBe('x [REDACTED] y');
  });

  test('returns a text without secrets as it is', () => {
    expect(mask('nothing here')).toBe('nothing here');
    expect(createMask([])('sk-plain')).toBe('sk-plain');
  });

  test('does not take a secret for an expression', () => {
    expect(createMask(['a.*b+c?(d)[e]'])('aXXb a.*b+c?(d)[e]')).toBe('aXXb [REDACTED]');
  });

  test('knows a secret that serialisers write with escapes beyond ASCII', () => {
    expect(createMask(['schlüssel/geheim'])('"schl\\u00fcssel/geheim"')).toBe('"[REDACTED]"');
    expect(createMask(['abc/defgh'])('"abc\\/defgh"')).toBe('"[REDACTED]"');
  });

  test('takes a secret with a lone surrogate', () => {
    expect(createMask(['abc\ud800defgh'])('x abc\ud800defgh')).toBe('x [REDACTED]');
  });
});

describe('createJsonMask', () => {
  const maskJson = createJsonMask(SECRETS);

  test('keeps the text valid JSON whatever a secret looks like', () => {
    const value = {
      a: 1012345678901,
      b: 123456789,
      c: ['x 0123456789', { '0123456789': true }],
      d: SECRETS[1],
    };
    expect(JSON.parse(maskJson(JSON.stringify(value)))).toEqual({
      a: 1012345678901,
      b: 123456789,
      c: ['x [REDACTED]', { '[REDACTED]': true }],
      d: '[REDACTED]',
    });
  });

  test('replaces a number that is a secret as a whole', () => {
    expect(createJsonMask(['12345678'])('{"n":12345678,"m":112345678}')).toBe(
      '{"n":"[REDACTED]","m":112345678}',
    );
  });

  test('keeps a member named __proto__ a member', () => {
    expect(maskJson('{"__proto__":"x","k":"sk-plain-0123456789"}')).toBe(
      '{"__proto__":"x","k":"[REDACTED]"}',
    );
  });

  test('returns a text without secrets as the same text', () => {
    const text = '{"a" : 1}';
    expect(maskJson(text)).toBe(text);
  });
});
