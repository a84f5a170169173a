import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../../lib/config/load.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';

test('admin that is on without a key does not start [S2.3-api-keys]', () => {
  const path = join(temporaryFolder(), 'config.yaml');
  writeFileSync(path, 'auth: {admin: {enabled: true}}');
  expect(() => loadConfig({ path, env: {} })).toThrow(/auth\.admin\.apiKeys/);
});
