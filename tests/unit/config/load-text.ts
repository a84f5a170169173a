import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, loadConfig } from '../../../lib/config/load.ts';
import type { LoadedConfig } from '../../../lib/config/loaded.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';

const path = join(temporaryFolder(), 'config.yaml');

type Env = Record<string, string | undefined>;

/** Loads a configuration given as text through a real file named config.yaml. */
export function loadText(text: string | Buffer, env: Env = {}): LoadedConfig {
  writeFileSync(path, text);
  return loadConfig({ path, env });
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
