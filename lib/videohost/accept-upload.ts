import type { IncomingMessage } from 'node:http';
import { errorBody, toHubError } from '../errors/hub-error.ts';
import { described } from './account-tokens.ts';
import { type FreeSpace, isDiskFull, noSpace } from './free-space.ts';
import type { IdempotencyKeys } from './idempotency.ts';
import { type OpenUploadJobDeps, openUploadJob } from './open-upload-job.ts';
import { receiveUpload, type UploadLimits } from './receive-upload.ts';
import { type Begun, repetitionOf } from './repetitions.ts';
import { createSpoolFile, type SpoolFile } from './spool-file.ts';
import type { UploadAccount } from './upload-account.ts';
import { resultOfEnding } from './upload-ending.ts';
import { tooLarge } from './upload-form.ts';
import type { UploadJob } from './upload-job.ts';
import type { UploadRecord, UploadResult } from './upload-record.ts';

export interface AcceptUploadDeps extends OpenUploadJobDeps {
  limits: UploadLimits;
  /** The account of an id; undefined where it is not this hub's. */
  account(target: string): UploadAccount | undefined;
  keys: IdempotencyKeys;
  space: FreeSpace;
}

/** Who asks, and how. */
export interface UploadCall {
  callerId: string | undefined;
  /** Aborts when the caller leaves. */
  signal: AbortSignal;
  /** Answer once the form is received. */
  respondAsync: boolean;
  /** The caller's Idempotency-Key. */
  key: string | undefined;
}

/** A form is its files and at most so much beside them, in bytes. */
const MOST_BESIDE = 16 * 1024 * 1024;

/**
 * Receives one upload and sends it, or answers it with what an earlier one under its Idempotency-Key has come to.
 * @throws HubError
 */
export async function acceptUpload(
  target: string,
  request: IncomingMessage,
  call: UploadCall,
  deps: AcceptUploadDeps,
): Promise<Begun> {
  const { limits, records, registry, keys, space, logger } = deps;
  const account = deps.account(target);
  if (account === undefined) throw new Error('an upload to an account that is not there');
  const callerId = call.callerId ?? null;
  await account.accessToken(call.signal);
  const announced = Number(request.headers['content-length'] ?? 0);
  await space.claim(target, announced);
  if (announced > limits.maxFileSize + limits.maxThumbnailSize + MOST_BESIDE) {
    space.release(announced);
    throw tooLarge(target, 'video', limits.maxFileSize);
  }
  const key = call.key === undefined ? undefined : keys.name(target, callerId, call.key);
  const { job, source } = await begin(target, account, callerId, key, deps).catch((error) => {
    space.release(announced);
    throw error;
  });
  const { record } = job;
  logger.info('An upload began', { target, uploadId: record.uploadId, bytes: announced || undefined });
  try {
    await records.write(record);
    await receiveUpload(request, {
      job,
      source,
      records,
      space,
      claimed: announced,
      limits,
      staging: deps.staging,
      // Not under a key: what came may turn out to be a repetition.
      mayOverlap: key === undefined,
      withFingerprint: key !== undefined,
      signal: call.signal,
    });
    const signal = AbortSignal.any([call.signal, job.signal]);
    const begun = await repetitionOf(job, { keys, registry }, { ...call, signal });
    if (begun !== undefined) {
      await job.discard();
      return begun;
    }
    if (call.respondAsync) await source.sync();
    record.state = 'sending';
    await records.write(record);
  } catch (thrown) {
    const error = isDiskFull(thrown) ? noSpace(target, thrown) : thrown;
    await refuse(job, error, deps);
    throw error;
  }
  logger.info('An upload was received', { target, uploadId: record.uploadId, bytes: source.size });
  source.complete();
  job.finish();
  if (call.respondAsync) return { kind: 'accepted', uploadId: record.uploadId };
  return { kind: 'result', result: await waited(job, call.signal, deps) };
}

async function begin(
  target: string,
  account: UploadAccount,
  callerId: string | null,
  key: string | undefined,
  deps: AcceptUploadDeps,
): Promise<{ job: UploadJob; source: SpoolFile }> {
  const { records } = deps;
  const uploadId = records.newId();
  const record: UploadRecord = {
    uploadId,
    target,
    callerId,
    state: 'receiving',
    startedAt: new Date().toISOString(),
    bytesReceived: 0,
    bytesAcknowledged: 0,
    bytesTotal: null,
    contentType: 'application/octet-stream',
    warnings: [],
    extras: {},
    ...(key !== undefined && { idempotency: { key } }),
  };
  await records.create(uploadId);
  try {
    const opened = await openUploadJob(
      account,
      record,
      () => createSpoolFile(records.file(uploadId, 'video')),
      deps,
    );
    if (opened === undefined) throw new Error('a new upload was leased already');
    return opened;
  } catch (error) {
    await records.remove(uploadId);
    throw error;
  }
}

/** Ends an upload whose form was refused: nothing is left of it on disk. */
async function refuse(job: UploadJob, error: unknown, { registry, logger }: AcceptUploadDeps): Promise<void> {
  const { record } = job;
  const failure = toHubError(error);
  const wasCancelled = job.signal.aborted && failure.extra?.reason === 'cancelled';
  record.state = wasCancelled ? 'cancelled' : 'failed';
  record.endedAt = new Date().toISOString();
  if (!wasCancelled) record.error = errorBody(failure).error;
  registry.remember(record);
  await job.discard();
  logger.warn('An upload was refused', {
    target: record.target,
    uploadId: record.uploadId,
    bytesReceived: record.bytesReceived,
    message: failure.message,
    ...described(failure),
  });
}

/** Waits for a job on behalf of its caller. A caller who was told of a failure needs no record of it on disk. */
async function waited(
  job: UploadJob,
  signal: AbortSignal,
  { records, registry }: AcceptUploadDeps,
): Promise<UploadResult> {
  const ending = await Promise.race([job.ended, departure(signal)]);
  if (ending.kind === 'failed' || ending.kind === 'cancelled') {
    registry.remember(job.record);
    await records.remove(job.record.uploadId);
  }
  return resultOfEnding(ending, job.record.target);
}

function departure(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
