import { existsSync } from 'node:fs';
import type { Logger } from '../logging/logger.ts';
import { type LeaseOptions, takeLease } from './lease.ts';
import type { SpoolFile } from './spool-file.ts';
import type { Staging } from './staging/s3.ts';
import type { UploadAccount } from './upload-account.ts';
import { createUploadJob, type UploadJob } from './upload-job.ts';
import { hasEnded, type UploadRecord, type UploadRecords } from './upload-record.ts';
import type { UploadRegistry } from './upload-registry.ts';

export interface OpenUploadJobDeps {
  records: UploadRecords;
  registry: UploadRegistry;
  /** Where callers may put videos beforehand. */
  staging: Staging | undefined;
  lease: LeaseOptions | undefined;
  logger: Logger;
}

const LEASE = 'lease';

/** Takes the upload's lease and makes its job; undefined while another hub is at it, or where it has ended. */
export async function openUploadJob(
  account: UploadAccount,
  record: UploadRecord,
  openSource: () => Promise<SpoolFile>,
  deps: OpenUploadJobDeps,
): Promise<{ job: UploadJob; source: SpoolFile } | undefined> {
  const { records, registry, staging, logger } = deps;
  const { uploadId } = record;
  const lease = await takeLease(records.directory(uploadId), LEASE, {
    ...deps.lease,
    onBeat() {
      const job = registry.active.get(uploadId);
      if (existsSync(records.file(uploadId, 'cancel'))) job?.cancel();
      void job?.save().catch(() => {});
    },
  });
  if (lease === undefined) return undefined;
  const current = (await records.read(uploadId)) ?? record;
  if (hasEnded(current)) {
    await lease.release();
    return undefined;
  }
  const source = await openSource().catch(async (error) => {
    await lease.release();
    throw error;
  });
  const job = createUploadJob({ account, records, record: current, source, lease, logger });
  registry.add(job);
  void job.ended.then((ending) => {
    if (ending.kind === 'done') removeStaged(job.record, staging, logger);
  });
  return { job, source };
}

/** Whatever stays in the bucket is for the bucket's own rules to expire. */
function removeStaged(
  { target, callerId, uploadId, stagingId }: UploadRecord,
  staging: Staging | undefined,
  logger: Logger,
): void {
  if (stagingId === undefined) return;
  staging?.remove(target, callerId, stagingId).catch((error) => {
    logger.warn('A staged video could not be removed', { target, uploadId, error });
  });
}
