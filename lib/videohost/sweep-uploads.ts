import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing, namesIn } from './atomic-file.ts';
import { type IdempotencyKeys, KEYS_FOLDER } from './idempotency.ts';
import { isLeased } from './lease.ts';
import { hasEnded, type UploadRecord, type UploadRecords } from './upload-record.ts';

/** An upload is remembered this long after its end, a key as long as its upload; in ms. */
const KEPT_MS = 24 * 3600 * 1000;
/** A directory without a record this old was left between its making and its first record. */
const ABANDONED_MS = 60_000;

export interface SweepDeps {
  records: UploadRecords;
  keys: IdempotencyKeys;
  spoolPath: string;
  isActive(uploadId: string): boolean;
}

/** Removes what is past its time, and gives the uploads that have not ended and are not this process's. */
export async function sweepUploads(deps: SweepDeps): Promise<UploadRecord[]> {
  const { records, keys, spoolPath, isActive } = deps;
  const unended: UploadRecord[] = [];
  for (const uploadId of await records.ids()) {
    if (isActive(uploadId)) continue;
    const record = await records.read(uploadId).catch(() => undefined);
    if (record === undefined) {
      const age = Date.now() - ((await records.changedAt(uploadId)) ?? Date.now());
      if (age > ABANDONED_MS && !(await isLeased(records.directory(uploadId), 'lease'))) {
        await records.remove(uploadId);
      }
    } else if (!hasEnded(record)) unended.push(record);
    else if (Date.now() - Date.parse(record.endedAt ?? record.startedAt) > KEPT_MS) {
      await records.remove(uploadId);
    } else {
      // A hub may have died between recording the end and cleaning up.
      await records.removeFiles(uploadId);
    }
  }
  for (const name of await namesIn(join(spoolPath, KEYS_FOLDER))) {
    const modified = await stat(join(spoolPath, KEYS_FOLDER, name)).catch((error) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (modified === undefined || Date.now() - modified.mtimeMs < KEPT_MS) continue;
    const claim = await keys.current(name);
    if (claim === undefined || (await records.read(claim.uploadId)) === undefined) await keys.forget(name);
  }
  return unended;
}
