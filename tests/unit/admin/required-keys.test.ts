import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loadConfig } from '../../../lib/config/load.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hub-admin-keys-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('admin that is on without a key does not start [S2.3-api-keys]', () => {
  const path = join(directory, 'config.yaml');
  writeFileSync(path, 'auth: {admin: {enabled: true}}');
  expect(() => loadConfig({ path, env: {} })).toThrow(/auth\.admin\.apiKeys/);
});
