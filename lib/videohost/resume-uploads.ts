import { errorBody, toHubError } from '../errors/hub-error.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import { type OpenUploadJobDeps, openUploadJob } from './open-upload-job.ts';
import { openSpoolFile } from './spool-file.ts';
import { sweepUploads } from './sweep-uploads.ts';
import type { UploadAccount } from './upload-account.ts';
import type { UploadRecord } from './upload-record.ts';

export interface ResumeUploadsDeps extends OpenUploadJobDeps {
  /** `videohost.upload.spoolPath` */
  spoolPath: string;
  /** The account of an id; undefined where it is not this hub's. */
  account(target: string): UploadAccount | undefined;
  keys: IdempotencyKeys;
  /** Aborts when no more may be taken up. */
  signal: AbortSignal;
}

/** Goes on with what a dead hub has left, and sweeps what nobody needs any more. */
export async function resumeUploads(deps: ResumeUploadsDeps): Promise<void> {
  const { records, registry, keys, spoolPath, signal, logger } = deps;
  for (const record of await sweepUploads({
    records,
    keys,
    spoolPath,
    isActive: (id) => registry.active.has(id),
  })) {
    const account = deps.account(record.target);
    if (account === undefined || signal.aborted) continue;
    await resume(account, record, deps).catch((error) => {
      const { target, uploadId } = record;
      logger.error('An interrupted upload cannot be resumed', { target, uploadId, error });
      const ended = { state: 'failed' as const, endedAt: new Date().toISOString() };
      return records.write({ ...record, ...ended, error: errorBody(toHubError(error)).error });
    });
  }
}

async function resume(account: UploadAccount, record: UploadRecord, deps: ResumeUploadsDeps): Promise<void> {
  const { records, logger } = deps;
  const { uploadId, target } = record;
  const opened = await openUploadJob(
    account,
    record,
    () => openSpoolFile(records.file(uploadId, 'video')),
    deps,
  );
  if (opened === undefined) return;
  const { job } = opened;
  if (job.record.state === 'receiving') {
    logger.info('An upload that was cut off was swept', { target, uploadId });
    await job.discard();
    return;
  }
  logger.info('An interrupted upload goes on', {
    target,
    uploadId,
    session: job.record.session !== undefined,
  });
  job.finish();
}
