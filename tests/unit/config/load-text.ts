import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '../../../lib/config/load.ts';
import type { LoadedConfig } from '../../../lib/config/loaded.ts';

type Env = Record<string, string | undefined>;

/** Loads a configuration given as text through a real file named config.yaml. */
export function loadText(text: string | Buffer, env: Env = {}): LoadedConfig {
  const directory = mkdtempSync(join(tmpdir(), 'hub-config-'));
  try {
    const path = join(directory, 'config.yaml');
    writeFileSync(path, text);
    return loadConfig({ path, env });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The faults of a configuration; an empty list when it loads. */
export function faultsOf(text: string | Buffer, env: Env = {}): readonly string[] {
  try {
    loadText(text, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}
