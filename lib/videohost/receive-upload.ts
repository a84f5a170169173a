import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { FileSink } from './form-file.ts';
import { type FreeSpace, isDiskFull, noSpace } from './free-space.ts';
import { fingerprintOf } from './idempotency.ts';
import { imageTypeOf } from './image-type.ts';
import { createMetadataForm, missing } from './metadata.ts';
import type { SpoolFile } from './spool-file.ts';
import type { Staging } from './staging/s3.ts';
import { readForm, tooLarge } from './upload-form.ts';
import type { UploadJob } from './upload-job.ts';
import type { UploadRecords } from './upload-record.ts';
import { formError } from './video-errors.ts';

export interface UploadLimits {
  /** Bytes. */
  maxFileSize: number;
  maxThumbnailSize: number;
  chunkSize: number;
}

export interface ReceiveUploadDeps {
  job: UploadJob;
  source: SpoolFile;
  records: UploadRecords;
  space: FreeSpace;
  /** Room on disk that was claimed for this request before it was read, in bytes. */
  claimed: number;
  limits: UploadLimits;
  /** Where a caller may have put the video beforehand. */
  staging: Staging | undefined;
  /** Whether to begin sending before the form is whole. */
  mayOverlap: boolean;
  /** Whether to hash what comes, for an Idempotency-Key. */
  withFingerprint: boolean;
  signal: AbortSignal;
}

const FILES = new Set(['video', 'thumbnail', 'captions']);
/** Field that names a staged video in place of the file. */
const STAGED = 'staged';
/** A file of subtitles is some hundred kilobytes. */
const MOST_CAPTIONS = 4 * 1024 * 1024;

/**
 * Reads the form of an upload into its job: the video onto disk, everything else checked as it comes.
 * @throws HubError naming the field at fault; what was written stays for the job to remove
 */
export async function receiveUpload(request: IncomingMessage, deps: ReceiveUploadDeps): Promise<void> {
  const { job, source, records, space, limits } = deps;
  const { record } = job;
  const { target, uploadId } = record;
  const form = createMetadataForm(target);
  const fields = new Map<string, string>();
  const hashes = new Map<string, Hash>();
  const small = new Map<'thumbnail' | 'captions', Buffer>();
  const seen = new Set<string>();
  const early = new AbortController();
  let stagingId: string | undefined;
  let claimed = deps.claimed;

  function sendAhead(): void {
    if (!deps.mayOverlap || source.size <= limits.chunkSize) return;
    const metadata = form.current();
    if (metadata !== undefined) job.sendAhead(metadata, (error) => early.abort(error));
  }

  /** Writes to disk what fits there. */
  async function spool(chunks: readonly Buffer[]): Promise<void> {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const unclaimed = Math.max(0, bytes - claimed);
    if (unclaimed > 0) await space.claim(target, unclaimed);
    try {
      await source.append(chunks);
    } catch (error) {
      throw isDiskFull(error) ? noSpace(target, error) : error;
    } finally {
      space.release(bytes);
      claimed = Math.max(0, claimed - bytes);
    }
    record.bytesReceived = source.size;
    sendAhead();
  }

  /** Brings a staged video into the spool. */
  async function fetchStaged(staging: Staging, stagingId: string): Promise<void> {
    const signal = AbortSignal.any([deps.signal, job.signal, early.signal]);
    const staged = await staging.open(target, record.callerId, stagingId, signal);
    if (staged === undefined)
      throw formError(target, STAGED, 'There is no staged video of this id', 'not_staged');
    if (staged.size > limits.maxFileSize) {
      staged.bytes.destroy();
      throw tooLarge(target, 'video', limits.maxFileSize);
    }
    const hash = createHash('sha256');
    if (deps.withFingerprint) hashes.set('video', hash);
    for await (const chunk of staged.bytes as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      if (deps.withFingerprint) hash.update(chunk);
      await spool([chunk]);
    }
    record.stagingId = stagingId;
  }

  function collect(name: 'thumbnail' | 'captions', limit: number): FileSink {
    const chunks: Buffer[] = [];
    let size = 0;
    return {
      async write(more) {
        for (const chunk of more) size += chunk.length;
        if (size > limit) throw tooLarge(target, name, limit);
        chunks.push(...more);
      },
      end: () => void small.set(name, Buffer.concat(chunks)),
    };
  }

  function sinkOf(name: string, contentType: string): FileSink {
    switch (name) {
      case 'video':
        record.contentType = contentType.startsWith('video/') ? contentType : 'application/octet-stream';
        return { write: spool, end: () => {} };
      case 'thumbnail':
        return collect(name, limits.maxThumbnailSize);
      case 'captions':
        return collect(name, MOST_CAPTIONS);
      default:
        throw formError(target, name, `There is no file ${name}; the video goes into the field video`);
    }
  }

  function hashed(name: string, sink: FileSink): FileSink {
    if (!deps.withFingerprint) return sink;
    const hash = createHash('sha256');
    hashes.set(name, hash);
    return {
      ...sink,
      write(chunks) {
        for (const chunk of chunks) hash.update(chunk);
        return sink.write(chunks);
      },
    };
  }

  try {
    await readForm(
      request,
      {
        target,
        maxFileSize: limits.maxFileSize,
        signal: AbortSignal.any([deps.signal, job.signal, early.signal]),
      },
      {
        onField(name, value) {
          if (FILES.has(name)) throw formError(target, name, `${name} must be a file`);
          if (name === STAGED && deps.staging !== undefined) stagingId = value;
          else {
            form.add(name, value);
            fields.set(name, value);
          }
          sendAhead();
        },
        onFile(name, contentType) {
          if (seen.has(name)) throw formError(target, name, `${name} is given more than once`);
          seen.add(name);
          return hashed(name, sinkOf(name, contentType));
        },
      },
    );
    if (stagingId !== undefined && deps.staging !== undefined) {
      if (seen.has('video'))
        throw formError(target, STAGED, 'The video is given twice: staged and as a file');
      // What is wrong with the rest should be said before gigabytes are fetched.
      form.complete();
      await fetchStaged(deps.staging, stagingId);
      seen.add('video');
    }
  } finally {
    space.release(claimed);
    claimed = 0;
  }

  if (!seen.has('video')) throw missing(target, 'video');
  if (source.size === 0) throw formError(target, 'video', 'The file video is empty');
  record.metadata = form.complete();
  record.warnings = form.unknown.slice(0, 10).map((name) => `There is no field ${name.slice(0, 100)}`);
  const thumbnail = small.get('thumbnail');
  if (thumbnail !== undefined) {
    const type = imageTypeOf(thumbnail);
    if (type === undefined) throw formError(target, 'thumbnail', 'thumbnail must be a JPEG or PNG image');
    record.thumbnailType = type;
  }
  const captions = small.get('captions');
  if (captions !== undefined) {
    if (!isUtf8(captions) || captions.length === 0) {
      throw formError(target, 'captions', 'captions must be a file of subtitles in UTF-8');
    }
    record.hasCaptions = true;
  }
  for (const [name, bytes] of small) {
    await writeFile(records.file(uploadId, name), bytes, { mode: 0o600 });
  }
  record.bytesTotal = source.size;
  if (record.idempotency !== undefined) {
    const digests = new Map([...hashes].map(([name, hash]) => [name, hash.digest('hex')]));
    record.idempotency.fingerprint = fingerprintOf(target, fields, digests);
  }
}
