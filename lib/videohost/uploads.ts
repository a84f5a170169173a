import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { errorBody, toHubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import { inWords, StartFault } from '../process/start-fault.ts';
import { described } from './account-tokens.ts';
import { createFreeSpace, isDiskFull, noSpace } from './free-space.ts';
import { createIdempotencyKeys } from './idempotency.ts';
import { type LeaseOptions, takeLease } from './lease.ts';
import { receiveUpload, type UploadLimits } from './receive-upload.ts';
import { type Begun, repetitionOf } from './repetitions.ts';
import { createSpoolFile, openSpoolFile, type SpoolFile } from './spool-file.ts';
import type { Staging } from './staging/s3.ts';
import { sweepUploads } from './sweep-uploads.ts';
import type { UploadAccount } from './upload-account.ts';
import { tooLarge } from './upload-form.ts';
import { createUploadJob, resultOfEnding, type UploadJob } from './upload-job.ts';
import { createUploadRecords, hasEnded, type UploadRecord, type UploadResult } from './upload-record.ts';
import { createUploadRegistry, type UploadRegistry } from './upload-registry.ts';

export interface UploadsDeps {
  /** `videohost.upload.spoolPath` */
  spoolPath: string;
  limits: UploadLimits;
  /** The account of an id; undefined where it is not this hub's. */
  account(target: string): UploadAccount | undefined;
  /** Where callers may put videos beforehand (`videohost.staging`). */
  staging?: Staging | undefined;
  logger: Logger;
  lease?: LeaseOptions;
  /** Milliseconds between two looks at uploads whose hub has died; default 30,000. */
  scanEveryMs?: number;
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

/** All uploads of this hub. */
export interface Uploads extends Pick<UploadRegistry, 'find' | 'list' | 'cancel'> {
  /** Receives and sends one upload. @throws HubError */
  upload(target: string, request: IncomingMessage, call: UploadCall): Promise<Begun>;
  /** Goes on with uploads that a dead hub has left. @throws StartFault when the spool cannot be written */
  start(): Promise<void>;
  /** Stops where it is; the next start goes on. */
  close(): Promise<void>;
}

const LEASE = 'lease';
const SCAN_EVERY_MS = 30_000;
/** A form is its files and at most so much beside them, in bytes. */
const MOST_BESIDE = 16 * 1024 * 1024;

export function createUploads(deps: UploadsDeps): Uploads {
  const { spoolPath, limits, logger, scanEveryMs = SCAN_EVERY_MS } = deps;
  const records = createUploadRecords(spoolPath);
  const keys = createIdempotencyKeys(spoolPath);
  const space = createFreeSpace(spoolPath);
  const registry = createUploadRegistry(records, (target) => deps.account(target) !== undefined);
  let scanning: NodeJS.Timeout | undefined;
  let isClosing = false;

  /** Takes the upload's lease and makes its job; undefined while another hub is at it. */
  async function openJob(
    account: UploadAccount,
    record: UploadRecord,
    openSource: () => Promise<SpoolFile>,
  ): Promise<{ job: UploadJob; source: SpoolFile } | undefined> {
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
      if (ending.kind === 'done') removeStaged(job.record);
    });
    return { job, source };
  }

  /** Whatever stays in the bucket is for the bucket's own rules to expire. */
  function removeStaged({ target, callerId, uploadId, stagingId }: UploadRecord): void {
    if (stagingId === undefined) return;
    deps.staging?.remove(target, callerId, stagingId).catch((error) => {
      logger.warn('A staged video could not be removed', { target, uploadId, error });
    });
  }

  async function begin(target: string, account: UploadAccount, callerId: string | null, key?: string) {
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
      const opened = await openJob(account, record, () => createSpoolFile(records.file(uploadId, 'video')));
      if (opened === undefined) throw new Error('a new upload was leased already');
      return opened;
    } catch (error) {
      await records.remove(uploadId);
      throw error;
    }
  }

  /** Ends an upload whose form was refused: nothing is left of it on disk. */
  async function refuse(job: UploadJob, error: unknown): Promise<void> {
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

  async function upload(target: string, request: IncomingMessage, call: UploadCall): Promise<Begun> {
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
    const { job, source } = await begin(target, account, callerId, key).catch((error) => {
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
      await refuse(job, error);
      throw error;
    }
    logger.info('An upload was received', { target, uploadId: record.uploadId, bytes: source.size });
    source.complete();
    job.finish();
    if (call.respondAsync) return { kind: 'accepted', uploadId: record.uploadId };
    return { kind: 'result', result: await waited(job, call.signal) };
  }

  /** Waits for a job on behalf of its caller. A caller who was told of a failure needs no record of it on disk. */
  async function waited(job: UploadJob, signal: AbortSignal): Promise<UploadResult> {
    const ending = await Promise.race([job.ended, departure(signal)]);
    if (ending.kind === 'failed' || ending.kind === 'cancelled') {
      registry.remember(job.record);
      await records.remove(job.record.uploadId);
    }
    return resultOfEnding(ending, job.record.target);
  }

  /** Goes on with what a dead hub has left, and sweeps what nobody needs any more. */
  async function scan(): Promise<void> {
    for (const record of await sweepUploads({
      records,
      keys,
      spoolPath,
      isActive: (id) => registry.active.has(id),
    })) {
      const account = deps.account(record.target);
      if (account === undefined || isClosing) continue;
      await resume(account, record).catch((error) => {
        const { target, uploadId } = record;
        logger.error('An interrupted upload cannot be resumed', { target, uploadId, error });
        const ended = { state: 'failed' as const, endedAt: new Date().toISOString() };
        return records.write({ ...record, ...ended, error: errorBody(toHubError(error)).error });
      });
    }
  }

  async function resume(account: UploadAccount, record: UploadRecord): Promise<void> {
    const { uploadId, target } = record;
    const opened = await openJob(account, record, () => openSpoolFile(records.file(uploadId, 'video')));
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

  return {
    upload,
    find: registry.find,
    list: registry.list,
    cancel: registry.cancel,
    async start() {
      await checkSpool(spoolPath);
      await scan();
      scanning = setInterval(
        () => void scan().catch((error) => logger.error('The spool cannot be swept', { error })),
        scanEveryMs,
      ).unref();
    },
    async close() {
      isClosing = true;
      clearInterval(scanning);
      const running = [...registry.active.values()].filter(({ record }) => record.state !== 'receiving');
      for (const job of running) job.interrupt();
      await Promise.all(running.map((job) => job.ended));
    },
  };
}

/** A video that cannot be spooled should be known of before the first caller sends one. @throws StartFault */
async function checkSpool(spoolPath: string): Promise<void> {
  try {
    await mkdir(spoolPath, { recursive: true, mode: 0o700 });
    await rmdir(await mkdtemp(join(spoolPath, '.check-')));
  } catch (error) {
    throw new StartFault(`The spool directory ${spoolPath} cannot be written: it ${inWords(error)}`, {
      cause: error,
    });
  }
}

function departure(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
