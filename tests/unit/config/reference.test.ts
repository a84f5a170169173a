import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { renderReference } from '../../../lib/config/reference.ts';

const reference = renderReference();

test('docs/configuration.md is what `npm run docs` writes', () => {
  const written = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(written).toBe(reference);
});

test.each([
  '| `hub.port` | number, 0 to 65535 | `3000` |',
  '| `targets[].id` | printable ASCII without spaces at its ends | **required** |',
  '| `targets[].requestTimeout` | ms | that of `hub.http_client.timeout` |',
  '| `mcp.servers[].transport` | `stdio`, `http`, `websocket` | `stdio` |',
  '| `mcp.servers[].env` | names to texts | `{}` |',
  '| `auth.apiKeys[].sha256` | 64 hex digits | **required** |',
  '| `videohost.accounts` | list | **required** |',
  '| `logging.types.<type>.level` | `debug`, `info`, `warn`, `error` | `info` |',
])('the reference has the row %s', (row) => {
  expect(reference).toContain(row);
});

test('every key has a meaning', () => {
  const rows = reference.split('\n').filter((line) => /^\| `[a-z].*\|.*\|.*\|.*\|$/.test(line));
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([]);
});
