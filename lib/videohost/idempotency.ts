import { createHash } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, namesIn } from './atomic-file.ts';
import { systemCodeOf } from './system-code.ts';

/** Which upload an Idempotency-Key stands for at the moment. */
export interface Claim {
  generation: number;
  uploadId: string;
}

/**
 * The keys of one disk, seen alike by every hub on it. A key that stands for a failed upload passes on to the next
 * one by a new generation, which the file system grants once.
 */
export interface IdempotencyKeys {
  /** A name for the key of one account and caller. */
  name(target: string, callerId: string | null, key: string): string;
  current(name: string): Promise<Claim | undefined>;
  /** Takes the key for an upload, after `previous`; false where another was quicker. */
  claim(name: string, previous: Claim | undefined, uploadId: string): Promise<boolean>;
  forget(name: string): Promise<void>;
}

/** Folder of the keys in the spool. */
export const KEYS_FOLDER = '.keys';

export function createIdempotencyKeys(spoolPath: string): IdempotencyKeys {
  const directory = (name: string) => join(spoolPath, KEYS_FOLDER, name);
  return {
    name: (target, callerId, key) =>
      createHash('sha256')
        .update(JSON.stringify([target, callerId, key]))
        .digest('hex'),
    async current(name) {
      const generation = Math.max(
        0,
        ...(await namesIn(directory(name))).map(Number).filter(Number.isSafeInteger),
      );
      if (generation === 0) return undefined;
      try {
        return { generation, uploadId: await readFile(join(directory(name), String(generation)), 'utf8') };
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    async claim(name, previous, uploadId) {
      await mkdir(directory(name), { recursive: true, mode: 0o700 });
      const written = join(directory(name), `.${uploadId}`);
      await writeFile(written, uploadId, { mode: 0o600 });
      try {
        // A link appears with its content, and only once under its name.
        await link(written, join(directory(name), String((previous?.generation ?? 0) + 1)));
        return true;
      } catch (error) {
        if (systemCodeOf(error) === 'EEXIST') return false;
        throw error;
      } finally {
        await rm(written, { force: true });
      }
    },
    forget: (name) => rm(directory(name), { recursive: true, force: true }),
  };
}

/** What makes two forms the same: target, field values and the SHA-256 of each file (contract §7). */
export function fingerprintOf(
  target: string,
  fields: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, string>,
): string {
  const sorted = (map: ReadonlyMap<string, string>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([target, sorted(fields), sorted(files)]))
    .digest('hex');
}
