import { setTimeout as sleep } from 'node:timers/promises';
import { HubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import type { VideoMetadata } from './metadata.ts';
import type { PublishedVideo } from './platform.ts';
import { createRetrySchedule } from './retry-schedule.ts';
import type { Outcome, SessionRequests } from './session-requests.ts';
import type { SpoolFile } from './spool-file.ts';
import { systemCodeOf } from './system-code.ts';
import { outcomeUnknown, platformUnavailable, videoError } from './video-errors.ts';

export interface SendVideoDeps {
  target: string;
  requests: SessionRequests;
  /** A good access token, another one than `refused`. @throws HubError */
  accessToken(signal: AbortSignal, refused?: string): Promise<string>;
  /** Bytes of one request; a multiple of 256 KiB. */
  chunkSize: number;
  /** Milliseconds without progress after which the upload fails. */
  retryFor: number;
  logger: Logger;
  /** Milliseconds before the first repetition, doubled each time; default 250. */
  retryDelayMs?: number;
}

/** One video on its way. */
export interface Sending {
  /** A session of an earlier run, to go on with. */
  session: string | undefined;
  /** The last chunk was on its way when the earlier run ended: the video may be there already. */
  lastChunkSent: boolean;
  metadata: VideoMetadata;
  /** Media type of the video. */
  contentType: string;
  /** May still grow; its last chunk waits until it is complete. */
  source: SpoolFile;
  signal: AbortSignal;
  /** A session was opened: to be remembered before bytes go there. */
  onSession(uri: string): Promise<void>;
  /** The last chunk is about to leave: to be remembered before it does. */
  onLastChunk(): Promise<void>;
  /** Bytes that the platform has kept. */
  onAcknowledged(bytes: number): void;
}

/** A token is used for so long before it is asked for again. */
const TOKEN_FOR_MS = 30_000;
const RETRY_DELAY_MS = 250;
/** Failures of the spool: to send again would not mend them. */
const DISK_CODES = new Set(['EIO', 'ENOENT', 'EBADF', 'EACCES', 'EMFILE', 'ENFILE', 'ENOSPC', 'ESTALE']);

/**
 * Sends a video chunk by chunk; resolves when the platform has it. What was kept is asked for before anything is sent
 * again after a failure, so that a lost answer never makes a second video.
 * @throws HubError
 */
export async function sendVideo(sending: Sending, deps: SendVideoDeps): Promise<PublishedVideo> {
  const { target, requests, chunkSize, retryFor, retryDelayMs = RETRY_DELAY_MS, logger } = deps;
  const { source, signal } = sending;
  let { session, lastChunkSent } = sending;
  let kept = 0;
  /** The farthest byte that was ever on its way: to pass it is progress. */
  let farthest = 0;
  const retries = createRetrySchedule(retryFor, retryDelayMs);
  let refusals = 0;
  let mustAsk = session !== undefined;
  let token = '';
  let tokenAt = 0;
  let refused: string | undefined;

  function progress(): void {
    retries.reset();
    refusals = 0;
  }

  async function pause(error: unknown, retryAfterMs?: number): Promise<void> {
    const delay = retries.next(retryAfterMs);
    if (delay === undefined) throw lastChunkSent ? outcomeUnknown(target, error) : asHubError(target, error);
    logger.debug('Sending a video is tried again', { target, attempt: retries.failures, error });
    await sleep(delay, undefined, { signal });
  }

  /** Asked for now and then, not for every chunk: it is read from where the tokens are kept. */
  async function goodToken(): Promise<string> {
    if (token === '' || token === refused || performance.now() - tokenAt > TOKEN_FOR_MS) {
      token = await deps.accessToken(signal, refused);
      tokenAt = performance.now();
    }
    return token;
  }

  /** Waits for bytes to send. That the caller is slow is not the platform's fault: its clock begins anew. */
  async function waitFor(end: number): Promise<void> {
    if (source.isComplete || source.size >= end) return;
    await source.until(end, signal);
    retries.restartClock();
  }

  /** Does the next step; undefined when a session was opened. */
  async function step(): Promise<Outcome | undefined> {
    // A chunk is not the last one as long as a byte is there beyond it: the last one completes the upload.
    if (!mustAsk) await waitFor(kept + chunkSize + 1);
    const call = { token: await goodToken(), signal };
    const total = source.isComplete ? source.size : undefined;
    if (session === undefined) {
      const { metadata, contentType } = sending;
      const opened = await requests.open({ metadata, contentType, total }, call);
      if (opened.kind === 'failed') return opened;
      session = opened.uri;
      await sending.onSession(session);
      return undefined;
    }
    if (mustAsk) return requests.ask(session, total, call);
    const end = Math.min(kept + chunkSize, source.size);
    if (source.isComplete && end === source.size) {
      if (!lastChunkSent) await sending.onLastChunk();
      lastChunkSent = true;
    }
    const chunk = { source, contentType: sending.contentType, start: kept, end };
    const outcome = await requests.put(session, chunk, call);
    if (end > farthest) {
      farthest = end;
      progress();
    }
    return outcome;
  }

  async function take(outcome: Outcome): Promise<PublishedVideo | undefined> {
    switch (outcome.kind) {
      case 'done':
        sending.onAcknowledged(source.size);
        return outcome.video;
      case 'kept': {
        const isWhole = source.isComplete && outcome.bytes >= source.size;
        const isMore = outcome.bytes > kept;
        if (outcome.bytes > source.size) throw badRange(target);
        kept = outcome.bytes;
        sending.onAcknowledged(kept);
        // All is there and the video is not: it is being made. Nothing may be sent again.
        const wasAsked = mustAsk;
        mustAsk = isWhole;
        if (!isWhole) lastChunkSent = false;
        if (isMore && !isWhole) progress();
        if (isWhole || (!isMore && !wasAsked)) {
          await pause(platformUnavailable(target, 'video platform', 'no_progress'));
        }
        return undefined;
      }
      case 'dead':
        if (lastChunkSent) throw outcomeUnknown(target);
        logger.info('The upload session has ended, a new one is opened', {
          target,
          bytesAcknowledged: kept,
        });
        session = undefined;
        mustAsk = false;
        kept = 0;
        sending.onAcknowledged(0);
        // The first time at once, though it counts as a failure.
        if (retries.failures > 0) await pause(platformUnavailable(target, 'video platform', 'session_lost'));
        else retries.next();
        return undefined;
      case 'failed': {
        const { error, isPassing, isTokenRefused, retryAfterMs } = outcome.failure;
        mustAsk = session !== undefined;
        if (isTokenRefused) {
          refused = token;
          refusals += 1;
          // A second token that is refused as well: it is not the token.
          if (refusals > 1) throw error;
        } else if (isPassing) await pause(error, retryAfterMs);
        else throw error;
        return undefined;
      }
    }
  }

  for (;;) {
    let outcome: Outcome | undefined;
    try {
      outcome = await step();
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassingError(error)) throw error;
      mustAsk = session !== undefined;
      await pause(error);
      continue;
    }
    if (outcome === undefined) continue;
    const video = await take(outcome);
    if (video !== undefined) return video;
  }
}

/** Whether a step that threw may be done again: the network and a provider that is down, nothing else. */
function isPassingError(error: unknown): boolean {
  if (error instanceof HubError) return error.code === 'upstream_unavailable';
  const code = systemCodeOf(error);
  return code === undefined ? !(error instanceof TypeError) : !DISK_CODES.has(code);
}

function asHubError(target: string, error: unknown): HubError {
  if (error instanceof HubError) return error;
  return platformUnavailable(target, 'video platform', 'unreachable', error);
}

function badRange(target: string): HubError {
  return videoError('upstream_bad_response', 'The video platform claims to have more than was sent', {
    target,
    reason: 'bad_range',
    hint: 'This is a fault of the platform, or of a proxy in front of it. Try again later.',
  });
}
