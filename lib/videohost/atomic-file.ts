import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemCodeOf } from './system-code.ts';

const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;
/** A temporary file this old has lost its writer; in ms. */
const ABANDONED_AFTER = 60_000;

/**
 * Replaces a file so that every reader, also after a crash or a power failure, finds the old text or the new one,
 * whole. Mode 0600 from its first byte on.
 */
export async function writeFileAtomic(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Removes what writers that were killed have left in a directory. */
export async function sweepTemporaries(directory: string, now: number): Promise<void> {
  for (const name of await namesIn(directory)) {
    if (!TEMPORARY.test(name)) continue;
    const path = join(directory, name);
    const modified = await stat(path).catch(() => undefined);
    if (modified !== undefined && now - modified.mtimeMs > ABANDONED_AFTER) await rm(path, { force: true });
  }
}

/** Names in a directory; none where it does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Whether a file system error says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return systemCodeOf(error) === 'ENOENT';
}

/** Makes a rename outlast a power failure, where the file system lets directories be synced. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r').catch(() => undefined);
  if (directory === undefined) return;
  await directory.sync().catch(() => {});
  await directory.close();
}
