import { describe, expect, test } from '@jest/globals';
import { redactConfig, redactUrls } from '../../../lib/admin/redact.ts';

const R = '[REDACTED]';

describe('redaction by name', () => {
  test.each([
    'password',
    'dbPassword',
    'TOKEN',
    'access_token',
    'apiKey',
    'API_KEY',
    'clientSecret',
    'Authorization',
    'key',
    'keyFile',
  ])('%s is redacted when it holds text, a list or an object [S5.5-redaction, C8-redact-names]', (name) => {
    for (const value of ['x', '', ['x'], [], { a: 1 }, {}]) {
      expect(redactConfig({ deep: [{ [name]: value }] })).toEqual({ deep: [{ [name]: R }] });
    }
  });

  test('numbers, booleans and null stay [C8-redact-numbers]', () => {
    const config = { max_completion_tokens: 5, tokenCheck: true, apiKey: null };
    expect(redactConfig(config)).toEqual(config);
  });

  test('the excepted names stay [C8-redact-exceptions]', () => {
    const config = {
      token_storage_path: './tokens',
      token_storage_file: 'a_{id}.json',
      unknownKeys: 'error',
    };
    expect(redactConfig(config)).toEqual(config);
  });

  test('values of headers and env are redacted, whatever they are called [C8-redact-maps]', () => {
    expect(
      redactConfig({ headers: { 'x-a': 'b' }, env: { HOME: '/x', N: 1 }, removeHeaders: ['x-a'] }),
    ).toEqual({
      headers: { 'x-a': R },
      env: { HOME: R, N: R },
      removeHeaders: ['x-a'],
    });
    expect(redactConfig({ headers: 'x', env: ['A=b'] })).toEqual({ headers: R, env: R });
  });

  test.each([
    [
      ['--token', 'abc', 'x'],
      ['--token', R, 'x'],
    ],
    [['--api-key=abc'], [`--api-key=${R}`]],
    [
      ['-H', 'Authorization: Bearer abc'],
      ['-H', `Authorization: ${R}`],
    ],
    [['--header=Authorization: Bearer abc'], [`--header=Authorization: ${R}`]],
    [['--env=MY_SECRET=abc'], [`--env=MY_SECRET=${R}`]],
    [
      ['MY_PASSWORD=abc', 'PATH=/bin'],
      [`MY_PASSWORD=${R}`, 'PATH=/bin'],
    ],
    [
      ['--port', '80', '-y'],
      ['--port', '80', '-y'],
    ],
    [['--url=https://u:p@h/?q=1'], [`--url=https://${R}@h/?q=${R}`]],
    [
      ['--secret', '--verbose'],
      ['--secret', R],
    ],
    [
      ['run', 'token', 'abc'],
      ['run', 'token', 'abc'],
    ],
  ])('arguments %j are shown as %j [C8-redact-maps]', (args, expected) => {
    expect(redactConfig({ args })).toEqual({ args: expected });
  });

  test('the configuration itself is not touched', () => {
    const config = { apiKey: 'x', headers: { a: 'b' }, args: ['--token', 'abc'] };
    const before = structuredClone(config);
    redactConfig(config);
    expect(config).toEqual(before);
  });
});

describe('URLs', () => {
  test.each([
    ['https://host/path', 'https://host/path'],
    ['https://user:pass@host:1/p?a=b&c=d#f', `https://${R}@host:1/p?a=${R}&c=${R}#${R}`],
    ['redis://:pass@host/0', `redis://${R}@host/0`],
    ['https://user@host', `https://${R}@host`],
    ['wss://host/?barekey', `wss://host/?${R}`],
    ['https://host/?a=&b', `https://host/?a=&${R}`],
    ['https://host?x=1?y=2', `https://host?x=${R}`],
    ['https://a@b@host/x', `https://${R}@host/x`],
    ['https://u:p"ss w@host/x', expect.not.stringContaining('p"ss')],
    ['redis://:pa/ss@host', `redis://${R}`],
    ['see https://u:p@h/?k=v and http://x/y', `see https://${R}@h/?k=${R} and http://x/y`],
    ['no address at all', 'no address at all'],
    ['https://api/{city}?q={q}', `https://api/{city}?q=${R}`],
  ])('%s lose userinfo and query values [C8-redact-urls]', (text, expected) => {
    expect(redactUrls(text)).toEqual(expected);
  });
});
