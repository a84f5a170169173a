import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ErrorBody } from '../errors/hub-error.ts';
import { isMissing, namesIn, writeFileAtomic } from './atomic-file.ts';
import type { VideoMetadata } from './metadata.ts';
import type { PublishedVideo } from './platform.ts';

export type UploadState = 'receiving' | 'sending' | 'done' | 'failed' | 'cancelled';

/** The answer to an upload (spec §2.7), with what became of its extras. */
export interface UploadResult {
  success: true;
  videoId: string;
  url: string;
  thumbnailUploaded: boolean;
  thumbnailError?: ExtraError;
  addedToPlaylist?: boolean;
  playlistError?: ExtraError;
  captionsUploaded?: boolean;
  captionsError?: ExtraError;
  /** What the video really is, where the platform did otherwise than asked. */
  privacyStatus?: string;
  warnings?: string[];
  uploadId: string;
}

export interface ExtraError {
  code: string;
  message: string;
}

/** One upload, as it stands on disk. Its session address lets whoever has it write to the upload: it stays here. */
export interface UploadRecord {
  uploadId: string;
  target: string;
  /** Identity of the caller; null while main authentication is off. */
  callerId: string | null;
  state: UploadState;
  /** ISO 8601. */
  startedAt: string;
  endedAt?: string;
  bytesReceived: number;
  bytesAcknowledged: number;
  /** Null until the whole video is received. */
  bytesTotal: number | null;
  contentType: string;
  metadata?: VideoMetadata;
  thumbnailType?: string;
  hasCaptions?: boolean;
  warnings: string[];
  session?: string;
  lastChunkSent?: boolean;
  video?: PublishedVideo;
  /** Extras that are through, with what became of them. */
  extras: Partial<UploadResult>;
  /** The staged object that the video came from. */
  stagingId?: string;
  idempotency?: { key: string; fingerprint?: string };
  result?: UploadResult;
  error?: ErrorBody['error'];
}

/** What callers see of it (contract §7). */
export interface UploadView {
  uploadId: string;
  target: string;
  state: UploadState;
  bytesReceived: number;
  bytesAcknowledged: number;
  bytesTotal: number | null;
  startedAt: string;
  result?: UploadResult;
  error?: ErrorBody['error'];
}

export function viewOf(record: UploadRecord): UploadView {
  const { uploadId, target, state, bytesReceived, bytesAcknowledged, bytesTotal, startedAt } = record;
  return {
    uploadId,
    target,
    state,
    bytesReceived,
    bytesAcknowledged,
    bytesTotal,
    startedAt,
    ...(record.result !== undefined && { result: record.result }),
    ...(record.error !== undefined && { error: record.error }),
  };
}

export function hasEnded({ state }: UploadRecord): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

const RECORD = 'record.json';
const ID = /^[0-9a-f]{32}$/;

/** The uploads on one disk: a directory each, which holds record, files and lease. */
export interface UploadRecords {
  newId(): string;
  /** Makes the directory of a new upload. */
  create(uploadId: string): Promise<void>;
  directory(uploadId: string): string;
  file(uploadId: string, name: 'video' | 'thumbnail' | 'captions' | 'cancel'): string;
  /** Undefined where there is none, or an id that is none. */
  read(uploadId: string): Promise<UploadRecord | undefined>;
  /** Replaces the record, so that it outlasts a crash. */
  write(record: UploadRecord): Promise<void>;
  /** Ids of all uploads on this disk. */
  ids(): Promise<string[]>;
  /** When the directory of an upload changed last, in ms since the epoch. */
  changedAt(uploadId: string): Promise<number | undefined>;
  /** Removes everything of an upload but its record. */
  removeFiles(uploadId: string): Promise<void>;
  remove(uploadId: string): Promise<void>;
}

export function createUploadRecords(spoolPath: string): UploadRecords {
  const directory = (uploadId: string) => join(spoolPath, uploadId);
  const writing = new Map<string, Promise<void>>();

  /** In the order of the calls: an older state must not replace a newer one. */
  async function write(record: UploadRecord): Promise<void> {
    const { uploadId } = record;
    const text = JSON.stringify(record);
    const before = writing.get(uploadId) ?? Promise.resolve();
    const mine = before.then(() => writeFileAtomic(join(directory(uploadId), RECORD), text));
    const settled = mine.catch(() => {});
    writing.set(uploadId, settled);
    try {
      await mine;
    } finally {
      if (writing.get(uploadId) === settled) writing.delete(uploadId);
    }
  }

  return {
    directory,
    write,
    newId: () => randomBytes(16).toString('hex'),
    file: (uploadId, name) => join(directory(uploadId), name),
    async create(uploadId) {
      await mkdir(directory(uploadId), { recursive: true, mode: 0o700 });
    },
    async read(uploadId) {
      if (!ID.test(uploadId)) return undefined;
      try {
        return JSON.parse(await readFile(join(directory(uploadId), RECORD), 'utf8')) as UploadRecord;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    ids: async () => (await namesIn(spoolPath)).filter((name) => ID.test(name)),
    async changedAt(uploadId) {
      return (await stat(directory(uploadId)).catch(() => undefined))?.mtimeMs;
    },
    async removeFiles(uploadId) {
      for (const name of await namesIn(directory(uploadId))) {
        if (name !== RECORD) await rm(join(directory(uploadId), name), { force: true });
      }
    },
    async remove(uploadId) {
      await writing.get(uploadId);
      await rm(directory(uploadId), { recursive: true, force: true });
    },
  };
}
