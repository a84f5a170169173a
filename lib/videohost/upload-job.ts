import { toHubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import { described } from './account-tokens.ts';
import type { Lease } from './lease.ts';
import type { VideoMetadata } from './metadata.ts';
import type { PublishedVideo } from './platform.ts';
import { publishedResult } from './published-result.ts';
import type { SpoolFile } from './spool-file.ts';
import type { UploadAccount } from './upload-account.ts';
import { cancelledError, type Ending, interruptedError, recordEnding } from './upload-ending.ts';
import type { UploadRecord, UploadRecords } from './upload-record.ts';
import { createUploadTransfer } from './upload-transfer.ts';
import { outcomeUnknown } from './video-errors.ts';
import { addExtras } from './video-extras.ts';

export interface UploadJobDeps {
  account: UploadAccount;
  records: UploadRecords;
  record: UploadRecord;
  source: SpoolFile;
  lease: Lease;
  logger: Logger;
}

/** One upload on its way: from its first byte to the platform's answer. */
export interface UploadJob {
  readonly record: UploadRecord;
  /** Aborts when the job must stop, whatever the reason. */
  readonly signal: AbortSignal;
  /** Never rejects. */
  readonly ended: Promise<Ending>;
  /** Begins to send what is there already; what `early` rejects with ends the form. */
  sendAhead(metadata: VideoMetadata, early: (error: unknown) => void): void;
  /** The form is whole and recorded: sends the rest. */
  finish(): void;
  /** Gives the upload up; nothing of it is kept. For forms that are refused. */
  discard(): Promise<void>;
  cancel(): void;
  /** Brings the record on disk up to date while the upload runs. */
  save(): Promise<void>;
  /** Stops where it is and leaves the upload to the next start. */
  interrupt(): void;
}

type StopReason = 'cancelled' | 'interrupted' | 'discarded';

export function createUploadJob(deps: UploadJobDeps): UploadJob {
  const { account, records, record, source, lease, logger } = deps;
  const { target, uploadId } = record;
  const { platform, resumable } = account;
  const stop = new AbortController();
  const transfer = createUploadTransfer({ resumable, records, record, source, signal: stop.signal });
  let stopped: StopReason | undefined;
  let isConcluding = false;
  let settle: (ending: Ending) => void = () => {};
  const ended = new Promise<Ending>((resolve) => {
    settle = resolve;
  });
  const stopFor = (reason: StopReason) => {
    stopped ??= reason;
    stop.abort(reason === 'interrupted' ? interruptedError(target) : cancelledError(target));
  };
  lease.lost.addEventListener('abort', () => stopFor('interrupted'), { once: true });

  async function run(): Promise<Ending> {
    const { metadata } = record;
    if (metadata === undefined) throw new Error('the upload has no metadata');
    if (record.video === undefined) {
      record.video = await transfer.sendAll(metadata);
      await records.write(record);
    }
    await addExtras(record.video.id, metadata, { account, records, record, logger, signal: stop.signal });
    const result = publishedResult(record.video, metadata, record, platform);
    logger.info('A video was published', {
      target,
      uploadId,
      videoId: result.videoId,
      bytes: source.size,
      privacyStatus: result.privacyStatus ?? metadata.privacyStatus,
      thumbnailUploaded: result.thumbnailUploaded,
    });
    return { kind: 'done', result };
  }

  /** What a failure, or being stopped, makes of the job. */
  async function endingOf(error: unknown): Promise<Ending> {
    if (stopped === 'interrupted') {
      logger.info('An upload was interrupted and goes on at the next start', { target, uploadId });
      return { kind: 'interrupted' };
    }
    if (stopped === 'cancelled') {
      const video = record.video ?? (await endSession());
      if (video === 'unknown') return { kind: 'failed', error: outcomeUnknown(target) };
      if (video !== undefined && record.metadata !== undefined) {
        logger.info('An upload was cancelled too late', { target, uploadId, videoId: video.id });
        return { kind: 'done', result: publishedResult(video, record.metadata, record, platform) };
      }
      logger.info('An upload was cancelled', { target, uploadId });
      return { kind: 'cancelled' };
    }
    const failure = toHubError(error);
    logger.error('An upload failed', { target, uploadId, ...described(error) });
    if (record.session !== undefined && failure.extra?.reason !== 'outcome_unknown') {
      void resumable.abandon(record.session);
    }
    return { kind: 'failed', error: failure };
  }

  /** Gives the session up; the video, should it be there all the same. */
  async function endSession(): Promise<PublishedVideo | 'unknown' | undefined> {
    if (record.session === undefined) return undefined;
    return resumable.abandon(record.session, record.lastChunkSent ? source.size : undefined);
  }

  /**
   * Lets go of the spool file, whose name is gone by now unless another process is to go on with it. Nobody waits: only
   * here the system frees the pages of a removed file, which takes it a tenth of a second for each 2 GB.
   */
  function closeSource(): void {
    source.close().catch(() => {});
  }

  async function conclude(): Promise<Ending> {
    const ending = await run()
      .catch(endingOf)
      .catch((error: unknown): Ending => ({ kind: 'failed', error: toHubError(error) }));
    isConcluding = true;
    await recordEnding(ending, { record, records, lease }).catch((error) => {
      logger.error('The end of an upload could not be recorded', { target, uploadId, error });
    });
    closeSource();
    return ending;
  }

  return {
    record,
    signal: stop.signal,
    ended,
    async save() {
      if (!isConcluding) await records.write(record);
    },
    sendAhead: transfer.sendAhead,
    finish() {
      void conclude().then(settle);
    },
    async discard() {
      isConcluding = true;
      stopFor('discarded');
      await transfer.aheadEnded();
      if (record.session !== undefined) void resumable.abandon(record.session);
      await lease.release();
      await records.remove(uploadId);
      closeSource();
      settle({ kind: 'cancelled' });
    },
    cancel: () => stopFor('cancelled'),
    interrupt: () => stopFor('interrupted'),
  };
}
