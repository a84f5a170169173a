import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from './faults.ts';

export interface SetupOptions {
  /** Where `.env` belongs: the working directory. */
  directory: string;
  /** Path of the configuration file, relative to `directory` or absolute. */
  configPath: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Writes `<directory>/.env` with a strong random `ADMIN_API_KEY` and `SESSION_SECRET`, mode 0600 (contract §1).
 * Never overwrites and never shows a key: `present` when something of that name is there already.
 * Throws a ConfigError when the file cannot be written.
 */
export function writeDotEnv(directory: string): 'written' | 'present' {
  const path = join(resolve(directory), '.env');
  const text = [
    '# Written by `npm run setup`. Secrets of this installation: keep them out of version control.',
    `ADMIN_API_KEY=${randomSecret()}`,
    `SESSION_SECRET=${randomSecret()}`,
    '',
  ].join('\n');
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return 'written';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return 'present';
    throw new ConfigError([`.env cannot be written: ${path} (${code ?? 'unknown error'})`]);
  }
}

/**
 * What the first start does: writes `.env` when there is none, the configuration is the one that lies in
 * `directory` itself and asks for `ADMIN_API_KEY`, and the environment has none. Call `loadDotEnv` afterwards.
 */
export function ensureSetup({
  directory,
  configPath,
  env,
}: SetupOptions): 'written' | 'present' | 'not-needed' {
  if (existsSync(join(resolve(directory), '.env'))) return 'present';
  const own = resolve(directory, 'config.yaml');
  if (resolve(directory, configPath) !== own || env.ADMIN_API_KEY !== undefined) return 'not-needed';
  if (!existsSync(own) || !readFileSync(own, 'utf8').includes(`\${ADMIN_API_KEY}`)) return 'not-needed';
  return writeDotEnv(directory);
}

/** 256 bits, in characters that need no quoting anywhere. */
function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}
