// biome-ignore-all lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
import { expect, test } from '@jest/globals';
import { isSecretName, namedArgument } from '../../../lib/config/secret-names.ts';
import { loadText } from './load-text.ts';

test('names of secrets, in any case', () => {
  const secret = [
    'password',
    'dbPassword',
    'TOKEN',
    'apiKey',
    'x-api-key',
    'API_KEY',
    'clientSecret',
    'Authorization',
    'key',
  ];
  expect(secret.filter(isSecretName)).toEqual(secret);
  const plain = ['token_storage_path', 'token_storage_file', 'unknownKeys', 'model', 'url', 'host'];
  expect(plain.filter(isSecretName)).toEqual([]);
});

test.each([
  ['--token', { name: 'token', value: undefined, valueAt: 7 }],
  ['--api-key=abc', { name: 'api-key', value: 'abc', valueAt: 10 }],
  ['API_KEY=abc', { name: 'API_KEY', value: 'abc', valueAt: 8 }],
  ['Authorization: Bearer abc', { name: 'Authorization', value: 'Bearer abc', valueAt: 15 }],
  ['Authorization:Bearer abc', { name: 'Authorization', value: 'Bearer abc', valueAt: 14 }],
  ['https://example.org', undefined],
  ['server.js', undefined],
])('the argument %j is read as a name with a value', (argument, named) => {
  expect(namedArgument(argument)).toEqual(named);
});

test('secrets are collected by the name of their own field, header, variable, parameter and flag', () => {
  const { secrets } = loadText(
    `
auth:
  session: {redis_url: "redis://user-name:pass%2Fword@localhost", cookie: {secret: cookie-secret-1}}
  admin: {enabled: true, apiKeys: [admin-key-0123456789-0123456789-1]}
targets:
  - {id: a, provider: openai, apiKey: target-key-1, headers: {authorization: Bearer header-token-1, x-plain: not-a-secret}}
  - {id: b, provider: openai, apiKey: short, maxTokensField: max_tokens}
mcp:
  servers:
    - {name: w, transport: websocket, url: "wss://localhost/?access_token=query%2Bsecret&room=not-a-secret"}
    - name: s
      command: npx
      args: [server, --api-key, flag-secret-1, --password=flag-secret-2, "--header", "Authorization:Bearer flag-secret-3", "\${PLAIN_TOKEN}", plain-text-1]
      env: {GITHUB_TOKEN: env-secret-1, LANG: not-a-secret}
videohost:
  token_storage_path: ./not-a-secret
  endpoints: {token: "https://id.example.org/token"}
  accounts: [{id: m, client_id: client-id-1, client_secret: client-secret-1, redirect_uri: "http://localhost/videohost/auth/idp/callback?target=m"}]
`,
    { PLAIN_TOKEN: 'variable-secret-1', AILINK_TOKEN: 'internal-token-0123456789-0123456789' },
  );
  expect([...secrets].sort()).toEqual(
    [
      'user-name',
      'pass%2Fword',
      'pass/word',
      'user-name:pass%2Fword',
      'cookie-secret-1',
      'admin-key-0123456789-0123456789-1',
      'target-key-1',
      'Bearer header-token-1',
      'header-token-1',
      'query+secret',
      'flag-secret-1',
      'flag-secret-2',
      'Bearer flag-secret-3',
      'flag-secret-3',
      'variable-secret-1',
      'env-secret-1',
      'client-secret-1',
      'internal-token-0123456789-0123456789',
    ].sort(),
  );
  const lengths = secrets.map((secret) => secret.length);
  expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
});
