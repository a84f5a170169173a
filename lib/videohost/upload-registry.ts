import { writeFile } from 'node:fs/promises';
import { HubError } from '../errors/hub-error.ts';
import type { UploadJob } from './upload-job.ts';
import { hasEnded, type UploadRecord, type UploadRecords, type UploadView, viewOf } from './upload-record.ts';
import { videoError } from './video-errors.ts';

/** Every upload that can be asked for: those of this process, those on disk, and what was told already. */
export interface UploadRegistry {
  /** Jobs of this process. */
  readonly active: ReadonlyMap<string, UploadJob>;
  add(job: UploadJob): void;
  /** Keeps an ended upload that leaves nothing on disk, because its caller was told. */
  remember(record: UploadRecord): void;
  /** As it stands now, whoever's it is. */
  record(uploadId: string): Promise<UploadRecord | undefined>;
  /** @throws HubError `upload_not_found` */
  find(uploadId: string, callerId: string | undefined): Promise<UploadView>;
  /** The newest first. */
  list(callerId: string | undefined): Promise<UploadView[]>;
  /** @throws HubError `upload_not_found`, or `conflict` when it has ended already */
  cancel(uploadId: string, callerId: string | undefined): Promise<UploadView>;
}

const MOST_REMEMBERED = 1000;

/** @param isOwn whether an account is this hub's */
export function createUploadRegistry(
  records: UploadRecords,
  isOwn: (target: string) => boolean,
): UploadRegistry {
  const active = new Map<string, UploadJob>();
  const remembered = new Map<string, UploadRecord>();

  async function record(uploadId: string): Promise<UploadRecord | undefined> {
    return active.get(uploadId)?.record ?? remembered.get(uploadId) ?? (await records.read(uploadId));
  }

  /** A caller sees his own uploads; while authentication is off, everybody all. */
  function isVisible(upload: UploadRecord | undefined, callerId: string | undefined): upload is UploadRecord {
    if (upload === undefined || !isOwn(upload.target)) return false;
    return callerId === undefined || upload.callerId === callerId;
  }

  async function visible(uploadId: string, callerId: string | undefined): Promise<UploadRecord> {
    const upload = await record(uploadId);
    if (isVisible(upload, callerId)) return upload;
    throw new HubError('upload_not_found', 'There is no upload of this id', {
      extra: {
        target: null,
        reason: 'upload_not_found',
        hint: 'Uploads are kept for 24 hours; GET /videohost/uploads lists them.',
      },
    });
  }

  return {
    active,
    record,
    add(job) {
      const { uploadId } = job.record;
      active.set(uploadId, job);
      void job.ended.then(() => active.delete(uploadId));
    },
    remember(upload) {
      remembered.set(upload.uploadId, upload);
      for (const id of remembered.keys()) {
        if (remembered.size <= MOST_REMEMBERED) break;
        remembered.delete(id);
      }
    },
    find: async (uploadId, callerId) => viewOf(await visible(uploadId, callerId)),
    async list(callerId) {
      const found: UploadRecord[] = [];
      for (const uploadId of new Set([...(await records.ids()), ...remembered.keys()])) {
        const upload = await record(uploadId);
        if (isVisible(upload, callerId)) found.push(upload);
      }
      return found.sort((a, b) => (a.startedAt < b.startedAt ? 1 : -1)).map(viewOf);
    },
    async cancel(uploadId, callerId) {
      const upload = await visible(uploadId, callerId);
      const job = active.get(uploadId);
      if (job !== undefined) {
        job.cancel();
        await job.ended;
      } else if (!hasEnded(upload)) {
        // Another hub is at it: it sees this with its next sign of life.
        await writeFile(records.file(uploadId, 'cancel'), '');
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
  };
}
