import { isDeepStrictEqual } from 'node:util';
import type { VideoMetadata } from './metadata.ts';
import type { PublishedVideo } from './platform.ts';
import type { ResumableUpload } from './resumable-upload.ts';
import type { SpoolFile } from './spool-file.ts';
import type { UploadRecord, UploadRecords } from './upload-record.ts';

export interface UploadTransferDeps {
  resumable: ResumableUpload;
  records: UploadRecords;
  record: UploadRecord;
  source: SpoolFile;
  /** Aborts when the upload must stop. */
  signal: AbortSignal;
}

/** The way of an upload's video to the platform; how far it got stands in the upload's record. */
export interface UploadTransfer {
  /** Begins to send what is there already; `early` is told what that fails with. */
  sendAhead(metadata: VideoMetadata, early: (error: unknown) => void): void;
  /** Waits for what was sent ahead, or sends anew where a later field has changed what the video is published as. */
  sendAll(metadata: VideoMetadata): Promise<PublishedVideo>;
  /** Resolves when nothing is being sent ahead any more. Never rejects. */
  aheadEnded(): Promise<void>;
}

export function createUploadTransfer(deps: UploadTransferDeps): UploadTransfer {
  const { resumable, records, record, source } = deps;
  let ahead: { metadata: VideoMetadata; abort: AbortController; video: Promise<PublishedVideo> } | undefined;

  function send(metadata: VideoMetadata, signal = deps.signal): Promise<PublishedVideo> {
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

  async function endAhead(): Promise<void> {
    if (ahead === undefined) return;
    ahead.abort.abort(new Error('the metadata has changed'));
    await ahead.video.catch(() => {});
    ahead = undefined;
    if (record.session !== undefined) await resumable.abandon(record.session);
    delete record.session;
    record.bytesAcknowledged = 0;
  }

  return {
    sendAhead(metadata, early) {
      if (ahead !== undefined) return;
      const abort = new AbortController();
      const video = send(metadata, AbortSignal.any([deps.signal, abort.signal]));
      ahead = { metadata, abort, video };
      video.catch((error) => {
        if (!abort.signal.aborted) early(error);
      });
    },
    async sendAll(metadata) {
      if (ahead === undefined) return send(metadata);
      if (isDeepStrictEqual(ahead.metadata, metadata)) return ahead.video;
      await endAhead();
      return send(metadata);
    },
    async aheadEnded() {
      await ahead?.video.catch(() => {});
    },
  };
}
