// biome-ignore-all lint/suspicious/noTemplateCurlyInString: quotes the syntax of config.yaml
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ensureSetup, writeDotEnv } from '../../../lib/config/setup.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';

let directory: string;
const dotEnv = () => join(directory, '.env');
beforeEach(() => {
  directory = temporaryFolder();
  writeFileSync(join(directory, 'config.yaml'), 'auth: {admin: {apiKeys: ["${ADMIN_API_KEY}"]}}');
});
afterEach(() => chmodSync(directory, 0o700));

test('the first start with the own configuration writes .env, the second finds it', () => {
  const options = { directory, configPath: './config.yaml', env: {} };
  expect([ensureSetup(options), ensureSetup(options)]).toEqual(['written', 'present']);
  expect(readFileSync(dotEnv(), 'utf8')).toMatch(/^ADMIN_API_KEY=[\w-]{43}$/m);
});

test.each([
  ['the key is in the environment', './config.yaml', { ADMIN_API_KEY: 'x' }],
  ['the configuration lies elsewhere', '../config.yaml', {}],
  ['there is no configuration', './none.yaml', {}],
])('nothing is written when %s', (_title, configPath, env) => {
  expect(ensureSetup({ directory, configPath, env })).toBe('not-needed');
  expect(existsSync(dotEnv())).toBe(false);
});

test('nothing is written for a configuration that asks for no key', () => {
  writeFileSync(join(directory, 'config.yaml'), 'hub: {}');
  expect(ensureSetup({ directory, configPath: 'config.yaml', env: {} })).toBe('not-needed');
});

test('a link that leads nowhere is not followed', () => {
  const elsewhere = join(directory, 'elsewhere');
  symlinkSync(elsewhere, dotEnv());
  expect(writeDotEnv(directory)).toBe('present');
  expect(existsSync(elsewhere)).toBe(false);
});

test('a directory that does not take the file is one clear line', () => {
  expect(() => writeDotEnv(join(directory, 'none'))).toThrow(
    `.env cannot be written: ${join(directory, 'none/.env')} (ENOENT)`,
  );
});
