import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { loadText } from './load-text.ts';

const own = readFileSync(new URL('../../../config.yaml', import.meta.url), 'utf8');
const exampleEnv = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
const KEY = 'k3y-0123456789-abcdefghijklmnop-9876';

test("the repository's own configuration needs an admin key and nothing else [S1-one-file]", () => {
  const { config, warnings } = loadText(own, { ADMIN_API_KEY: KEY });
  expect(config.targets.map(({ id }) => id)).toEqual(['echo']);
  expect(config.auth.admin.apiKeys).toEqual([KEY]);
  expect(warnings).toEqual([]);
});

test('its commented examples work once the comment sign is taken off', () => {
  const text = own.replace(/^# (?=\s+\S|(tools|proxies|videohost):)/gm, '');
  const { config, warnings } = loadText(text, {
    ADMIN_API_KEY: KEY,
    OPENAI_API_KEY: 'sk-1',
    SEARCH_TOKEN: 'token',
    VIDEO_CLIENT_ID: 'id',
    VIDEO_CLIENT_SECRET: 'secret',
  });
  expect(config.targets.map(({ id }) => id)).toEqual(['echo', 'gpt']);
  expect(config.mcp.servers.map(({ name }) => name)).toEqual(['everything', 'search']);
  expect(config.tools.map(({ name }) => name)).toEqual(['weather']);
  expect(config.proxies.map(({ id }) => id)).toEqual(['wiki']);
  expect(config.videohost?.accounts.map(({ id }) => id)).toEqual(['main']);
  expect(warnings).toEqual([]);
});

test('every variable that it names is in .env.example', () => {
  const names = [...own.matchAll(/\$\{(\w+)/g)].map((match) => match[1] ?? '');
  const known = names.filter((name) => !['VAR', 'SEARCH_TOKEN'].includes(name));
  for (const name of known) expect(exampleEnv).toContain(`${name}=`);
});
