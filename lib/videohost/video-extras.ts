import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import { described } from './account-tokens.ts';
import type { VideoMetadata } from './metadata.ts';
import type { PlatformCall } from './platform.ts';
import type { UploadAccount } from './upload-account.ts';
import type { ExtraError, UploadRecord, UploadRecords, UploadResult } from './upload-record.ts';
import { extraError } from './video-errors.ts';

export interface VideoExtrasDeps {
  account: UploadAccount;
  records: UploadRecords;
  record: UploadRecord;
  logger: Logger;
  signal: AbortSignal;
}

const ATTEMPTS = 3;
const RETRY_DELAY_MS = 500;

/**
 * Adds to a published video what was sent with it: thumbnail, captions, its place in a playlist. None of them fails
 * the upload; each is recorded when it is through, so that an interrupted upload does not do it twice.
 */
export async function addExtras(
  videoId: string,
  metadata: VideoMetadata,
  deps: VideoExtrasDeps,
): Promise<void> {
  const { account, records, record, logger, signal } = deps;
  const { uploadId, target, extras, thumbnailType } = record;
  const { platform } = account;

  async function add(
    name: string,
    work: (call: PlatformCall) => Promise<void>,
    outcome: (error: ExtraError | undefined) => Partial<UploadResult>,
  ): Promise<void> {
    const failure = await attempt(account, work, signal);
    if (failure !== undefined) {
      logger.warn(`The ${name} could not be set`, { target, uploadId, ...described(failure) });
    }
    Object.assign(extras, outcome(failure === undefined ? undefined : extraError(failure)));
    await records.write(record);
  }

  if (thumbnailType !== undefined && extras.thumbnailUploaded === undefined) {
    const bytes = await readFile(records.file(uploadId, 'thumbnail'));
    await add(
      'thumbnail',
      (call) => platform.setThumbnail(videoId, { type: thumbnailType, bytes }, call),
      (error) => ({ thumbnailUploaded: error === undefined, ...(error && { thumbnailError: error }) }),
    );
  }
  if (record.hasCaptions === true && extras.captionsUploaded === undefined) {
    const text = await readFile(records.file(uploadId, 'captions'), 'utf8');
    const language = metadata.captionsLanguage ?? metadata.defaultLanguage ?? 'en';
    await add(
      'captions',
      (call) => platform.addCaptions(videoId, { language, text }, call),
      (error) => ({ captionsUploaded: error === undefined, ...(error && { captionsError: error }) }),
    );
  }
  const { playlistId } = metadata;
  if (playlistId !== undefined && extras.addedToPlaylist === undefined) {
    await add(
      'playlist',
      (call) => platform.addToPlaylist(videoId, playlistId, call),
      (error) => ({ addedToPlaylist: error === undefined, ...(error && { playlistError: error }) }),
    );
  }
}

/** Does one call with a good token, again where the platform is down; what it failed with in the end. */
async function attempt(
  account: UploadAccount,
  work: (call: PlatformCall) => Promise<void>,
  signal: AbortSignal,
): Promise<unknown> {
  let refused: string | undefined;
  for (let count = 1; ; count += 1) {
    let accessToken = '';
    try {
      accessToken = await account.accessToken(signal, refused);
      await work({ accessToken, signal });
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      const code = error instanceof HubError ? error.code : undefined;
      const isRefused = code === 'token_expired' && refused === undefined && accessToken !== '';
      if (count === ATTEMPTS || !(isRefused || code === 'upstream_unavailable')) return error;
      if (isRefused) refused = accessToken;
      else await sleep(RETRY_DELAY_MS * 2 ** (count - 1), undefined, { signal });
    }
  }
}
