import { isDeepStrictEqual } from 'node:util';
import { errorBody, type HubError, toHubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import { described } from './account-tokens.ts';
import type { Lease } from './lease.ts';
import type { VideoMetadata } from './metadata.ts';
import type { PublishedVideo } from './platform.ts';
import { uncertain } from './resumable-upload.ts';
import type { SpoolFile } from './spool-file.ts';
import type { UploadAccount } from './upload-account.ts';
import type { UploadRecord, UploadRecords, UploadResult } from './upload-record.ts';
import { videoError } from './video-errors.ts';
import { addExtras } from './video-extras.ts';

export interface UploadJobDeps {
  account: UploadAccount;
  records: UploadRecords;
  record: UploadRecord;
  source: SpoolFile;
  lease: Lease;
  logger: Logger;
}

/** How a job ended; `interrupted` ones go on at the next start. */
export type Ending =
  | { kind: 'done'; result: UploadResult }
  | { kind: 'failed'; error: HubError }
  | { kind: 'cancelled' }
  | { kind: 'interrupted' };

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
  let stopped: StopReason | undefined;
  let isConcluding = false;
  let ahead: { metadata: VideoMetadata; abort: AbortController; video: Promise<PublishedVideo> } | undefined;
  let settle: (ending: Ending) => void = () => {};
  const ended = new Promise<Ending>((resolve) => {
    settle = resolve;
  });
  const stopFor = (reason: StopReason) => {
    stopped ??= reason;
    stop.abort(reason === 'interrupted' ? interruptedError(target) : cancelledError(target));
  };
  lease.lost.addEventListener('abort', () => stopFor('interrupted'), { once: true });

  function send(metadata: VideoMetadata, signal: AbortSignal): Promise<PublishedVideo> {
    return resumable.send({
      session: record.session,
      lastChunkSent: record.lastChunkSent === true,
      metadata,
      contentType: record.contentType,
      source,
      signal,
      async onSession(uri) {
        record.session = uri;
        record.lastChunkSent = false;
        await records.write(record);
      },
      async onLastChunk() {
        record.lastChunkSent = true;
        await records.write(record);
      },
      onAcknowledged(bytes) {
        record.bytesAcknowledged = bytes;
      },
    });
  }

  /** Waits for what was sent ahead, or sends anew where a later field has changed what the video is published as. */
  async function sendAll(metadata: VideoMetadata): Promise<PublishedVideo> {
    if (ahead === undefined) return send(metadata, stop.signal);
    if (isDeepStrictEqual(ahead.metadata, metadata)) return ahead.video;
    await endAhead();
    return send(metadata, stop.signal);
  }

  async function endAhead(): Promise<void> {
    if (ahead === undefined) return;
    ahead.abort.abort(new Error('the metadata has changed'));
    await ahead.video.catch(() => {});
    ahead = undefined;
    if (record.session !== undefined) await resumable.abandon(record.session);
    delete record.session;
    record.bytesAcknowledged = 0;
  }

  function resultOf(video: PublishedVideo, metadata: VideoMetadata): UploadResult {
    const warnings = [...record.warnings];
    const { privacyStatus } = video;
    const isForced = privacyStatus !== undefined && privacyStatus !== metadata.privacyStatus;
    if (isForced) {
      warnings.push(
        `The platform made the video ${privacyStatus} instead of ${metadata.privacyStatus}. It does so for projects that have not passed its API audit: until then every upload stays private.`,
      );
    }
    return {
      success: true,
      videoId: video.id,
      url: platform.watchUrl(video.id),
      thumbnailUploaded: false,
      ...record.extras,
      ...(isForced && { privacyStatus }),
      ...(warnings.length > 0 && { warnings }),
      uploadId,
    };
  }

  async function run(): Promise<Ending> {
    const { metadata } = record;
    if (metadata === undefined) throw new Error('the upload has no metadata');
    if (record.video === undefined) {
      record.video = await sendAll(metadata);
      await records.write(record);
    }
    await addExtras(record.video.id, metadata, { account, records, record, logger, signal: stop.signal });
    const result = resultOf(record.video, metadata);
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
      if (video === 'unknown') return { kind: 'failed', error: uncertain(target) };
      if (video !== undefined && record.metadata !== undefined) {
        logger.info('An upload was cancelled too late', { target, uploadId, videoId: video.id });
        return { kind: 'done', result: resultOf(video, record.metadata) };
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

  async function writeEnding(ending: Ending): Promise<void> {
    if (ending.kind === 'interrupted') {
      // After a lost lease the record belongs to another process.
      if (!lease.lost.aborted) await records.write(record);
      await lease.release();
      return;
    }
    // Callers see the end when nothing is left to clean up.
    const last: UploadRecord = { ...record, state: ending.kind, endedAt: new Date().toISOString() };
    delete last.session;
    if (ending.kind === 'done') last.result = ending.result;
    if (ending.kind === 'failed') last.error = errorBody(ending.error).error;
    await records.write(last);
    await lease.release();
    await records.removeFiles(uploadId);
    Object.assign(record, last);
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
    await writeEnding(ending).catch((error) => {
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
    sendAhead(metadata, early) {
      if (ahead !== undefined) return;
      const abort = new AbortController();
      const video = send(metadata, AbortSignal.any([stop.signal, abort.signal]));
      ahead = { metadata, abort, video };
      video.catch((error) => {
        if (!abort.signal.aborted) early(error);
      });
    },
    finish() {
      void conclude().then(settle);
    },
    async discard() {
      isConcluding = true;
      stopFor('discarded');
      await ahead?.video.catch(() => {});
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

/** What a caller who waits for a job is told of its end. @throws HubError */
export function resultOfEnding(ending: Ending, target: string): UploadResult {
  switch (ending.kind) {
    case 'done':
      return ending.result;
    case 'failed':
      throw ending.error;
    case 'cancelled':
      throw cancelledError(target);
    case 'interrupted':
      throw interruptedError(target);
  }
}

function cancelledError(target: string): HubError {
  return videoError('conflict', 'The upload was cancelled', {
    target,
    reason: 'cancelled',
    hint: 'Send the upload again if it is wanted after all.',
  });
}

function interruptedError(target: string): HubError {
  return videoError('shutting_down', 'The hub is shutting down; the upload goes on at its next start', {
    target,
    reason: 'interrupted',
    hint: 'Look for it under GET /videohost/uploads, or repeat the request with its Idempotency-Key.',
  });
}
