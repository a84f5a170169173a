import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../lib/config/schema/config-schema.ts';
import { inWords, StartFault } from '../lib/process/start-fault.ts';

/**
 * Makes sure of the directory that the token files of video accounts are kept in: a token that cannot be stored
 * is lost with the consent that gave it. Tries it by writing, because permissions do not tell of a read-only disk.
 * @throws StartFault naming it
 */
export function checkTokenDirectory(videohost: Config['videohost']): void {
  if (videohost === undefined || videohost.token_store !== 'file' || videohost.accounts.length === 0) return;
  const directory = videohost.token_storage_path;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    rmdirSync(mkdtempSync(join(directory, '.check-')));
  } catch (error) {
    throw new StartFault(`The token directory ${directory} cannot be written: it ${inWords(error)}`, {
      cause: error,
    });
  }
}
