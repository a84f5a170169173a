import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rmdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorBody, HubError, toHubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import { inWords, StartFault } from '../process/start-fault.ts';
import { described } from './account-tokens.ts';
import { createFreeSpace } from './free-space.ts';
import { createIdempotencyKeys } from './idempotency.ts';
import { type LeaseOptions, takeLease } from './lease.ts';
import { receiveUpload, type UploadLimits } from './receive-upload.ts';
import { createSpoolFile, openSpoolFile, type SpoolFile } from './spool-file.ts';
import type { Staging } from './staging/s3.ts';
import { sweepUploads } from './sweep-uploads.ts';
import { createUploadJob, resultOfEnding, type UploadAccount, type UploadJob } from './upload-job.ts';
import {
  createUploadRecords,
  hasEnded,
  type UploadRecord,
  type UploadResult,
  type UploadView,
  viewOf,
} from './upload-record.ts';
import { videoError } from './video-errors.ts';

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

export type Begun = { kind: 'result'; result: UploadResult } | { kind: 'accepted'; uploadId: string };

/** All uploads of this hub. */
export interface Uploads {
  /** Receives and sends one upload. @throws HubError */
  upload(target: string, request: IncomingMessage, call: UploadCall): Promise<Begun>;
  /** @throws HubError `upload_not_found` */
  find(uploadId: string, callerId: string | undefined): Promise<UploadView>;
  /** The newest first. */
  list(callerId: string | undefined): Promise<UploadView[]>;
  /** @throws HubError `upload_not_found`, or `conflict` when it has ended already */
  cancel(uploadId: string, callerId: string | undefined): Promise<UploadView>;
  /** Goes on with uploads that a dead hub has left. */
  start(): Promise<void>;
  /** Stops where it is; the next start goes on. */
  close(): Promise<void>;
}

const LEASE = 'lease';
const CANCEL = 'cancel';
const SCAN_EVERY_MS = 30_000;
const POLL_MS = 500;
const MOST_REMEMBERED = 1000;

export function createUploads(deps: UploadsDeps): Uploads {
  const { spoolPath, limits, logger, scanEveryMs = SCAN_EVERY_MS } = deps;
  const records = createUploadRecords(spoolPath);
  const keys = createIdempotencyKeys(spoolPath);
  const space = createFreeSpace(spoolPath);
  const active = new Map<string, UploadJob>();
  /** Ended ones whose caller was told and that leave nothing on disk. */
  const remembered = new Map<string, UploadRecord>();
  let scanning: NodeJS.Timeout | undefined;
  let isClosing = false;

  function remember(record: UploadRecord): void {
    remembered.set(record.uploadId, record);
    for (const id of remembered.keys()) {
      if (remembered.size <= MOST_REMEMBERED) break;
      remembered.delete(id);
    }
  }

  /** Takes the upload's lease and makes its job; undefined while another hub is at it. */
  async function openJob(
    account: UploadAccount,
    record: UploadRecord,
    openSource: () => Promise<SpoolFile>,
  ): Promise<{ job: UploadJob; source: SpoolFile } | undefined> {
    const { uploadId } = record;
    const directory = records.directory(uploadId);
    const lease = await takeLease(directory, LEASE, {
      ...deps.lease,
      onBeat() {
        const job = active.get(uploadId);
        if (existsSync(join(directory, CANCEL))) job?.cancel();
        void job?.save().catch(() => {});
      },
    });
    if (lease === undefined) return undefined;
    const current = (await records.read(uploadId)) ?? record;
    if (hasEnded(current)) {
      await lease.release();
      return undefined;
    }
    const source = await openSource();
    const job = createUploadJob({ account, records, record: current, source, lease, logger });
    active.set(uploadId, job);
    void job.ended.then((ending) => {
      active.delete(uploadId);
      const { target, callerId, stagingId } = job.record;
      if (ending.kind !== 'done' || stagingId === undefined) return;
      // Whatever stays is for the bucket's own rules to expire.
      deps.staging?.remove(target, callerId, stagingId).catch((error) => {
        logger.warn('A staged video could not be removed', { target, uploadId, error });
      });
    });
    return { job, source };
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

  /** The upload that a key stands for, while it may still give a result. */
  async function standingFor(uploadId: string | undefined): Promise<UploadRecord | undefined> {
    if (uploadId === undefined) return undefined;
    const record = active.get(uploadId)?.record ?? (await records.read(uploadId));
    return record === undefined || record.state === 'failed' || record.state === 'cancelled'
      ? undefined
      : record;
  }

  /** Waits for an upload that may run in another hub. Its result; undefined when it failed. */
  async function outcomeOf(uploadId: string, signal: AbortSignal): Promise<UploadResult | undefined> {
    for (;;) {
      const record = await standingFor(uploadId);
      if (record === undefined || record.state === 'done') return record?.result;
      const job = active.get(uploadId);
      const pause = sleep(POLL_MS, undefined, { signal });
      await (job === undefined ? pause : Promise.race([job.ended, pause.catch(() => {})]));
      signal.throwIfAborted();
    }
  }

  /**
   * Takes the key for a received upload, or gives what the earlier one under it has come to.
   * @throws HubError `idempotency_mismatch`
   */
  async function earlier(job: UploadJob, { signal, respondAsync }: UploadCall): Promise<Begun | undefined> {
    const { idempotency, uploadId, target } = job.record;
    if (idempotency === undefined) return undefined;
    for (;;) {
      const claim = await keys.current(idempotency.key);
      const first = await standingFor(claim?.uploadId);
      if (first === undefined) {
        if (await keys.claim(idempotency.key, claim, uploadId)) return undefined;
        continue;
      }
      if (first.idempotency?.fingerprint !== idempotency.fingerprint) {
        throw videoError('idempotency_mismatch', 'This Idempotency-Key was used for another upload', {
          target,
          param: 'idempotency-key',
          reason: 'idempotency_mismatch',
          hint: 'Repeat the very same form under a key, or send another one under a new key.',
        });
      }
      if (respondAsync && first.state !== 'done') return { kind: 'accepted', uploadId: first.uploadId };
      const result = await outcomeOf(first.uploadId, signal);
      if (result !== undefined) return { kind: 'result', result };
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
    remember(record);
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
      const begun = await earlier(job, call);
      if (begun !== undefined) {
        await job.discard();
        return begun;
      }
      if (call.respondAsync) await source.sync();
      record.state = 'sending';
      await records.write(record);
    } catch (error) {
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
      remember(job.record);
      await records.remove(job.record.uploadId);
    }
    return resultOfEnding(ending, job.record.target);
  }

  function isVisible(record: UploadRecord | undefined, callerId: string | undefined): record is UploadRecord {
    if (record === undefined || deps.account(record.target) === undefined) return false;
    return callerId === undefined || record.callerId === callerId;
  }

  async function visible(uploadId: string, callerId: string | undefined): Promise<UploadRecord> {
    const record = active.get(uploadId)?.record ?? remembered.get(uploadId) ?? (await records.read(uploadId));
    if (isVisible(record, callerId)) return record;
    throw new HubError('upload_not_found', 'There is no upload of this id', {
      extra: {
        target: null,
        reason: 'upload_not_found',
        hint: 'Uploads are kept for 24 hours; GET /videohost/uploads lists them.',
      },
    });
  }

  /** Goes on with what a dead hub has left, and sweeps what nobody needs any more. */
  async function scan(): Promise<void> {
    for (const record of await sweepUploads({ records, keys, spoolPath, isActive: (id) => active.has(id) })) {
      const account = deps.account(record.target);
      if (account === undefined || isClosing) continue;
      await resume(account, record).catch((error) => {
        logger.error('An interrupted upload cannot be resumed', {
          target: record.target,
          uploadId: record.uploadId,
          error,
        });
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
    find: async (uploadId, callerId) => viewOf(await visible(uploadId, callerId)),
    async list(callerId) {
      const found = new Map<string, UploadRecord>();
      for (const uploadId of await records.ids()) {
        const record = active.get(uploadId)?.record ?? (await records.read(uploadId));
        if (isVisible(record, callerId)) found.set(uploadId, record);
      }
      for (const record of remembered.values()) {
        if (isVisible(record, callerId)) found.set(record.uploadId, record);
      }
      return [...found.values()].sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)).map(viewOf);
    },
    async cancel(uploadId, callerId) {
      const record = await visible(uploadId, callerId);
      const job = active.get(uploadId);
      if (job !== undefined) {
        job.cancel();
        await job.ended;
      } else if (!hasEnded(record)) {
        // Another hub is at it: it sees this with its next sign of life.
        await writeFile(join(records.directory(uploadId), CANCEL), '');
      }
      const after = await visible(uploadId, callerId);
      if (after.state === 'done' || after.state === 'failed') {
        throw videoError('conflict', `The upload is ${after.state} already`, {
          target: after.target,
          reason: 'already_ended',
          hint: 'Only an upload that is receiving or sending can be cancelled.',
        });
      }
      return viewOf(after);
    },
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
      const running = [...active.values()].filter(({ record }) => record.state !== 'receiving');
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
