import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { HubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import type { VideoMetadata } from './metadata.ts';
import type { PublishedVideo, VideoPlatform } from './platform.ts';
import type { ChunkSender } from './sender/chunk-sender.ts';
import { createSessionRequests, type Outcome } from './session-requests.ts';
import type { SpoolFile } from './spool-file.ts';
import { systemCodeOf } from './system-code.ts';
import { platformUnavailable, videoError } from './video-errors.ts';

export interface ResumableUploadDeps {
  target: string;
  platform: VideoPlatform;
  dispatcher: Dispatcher;
  sender: ChunkSender;
  /** A good access token, another one than `refused`. @throws HubError */
  accessToken(signal: AbortSignal, refused?: string): Promise<string>;
  /** Bytes of one request; a multiple of 256 KiB. */
  chunkSize: number;
  /** Milliseconds without progress after which the upload fails. */
  retryFor: number;
  logger: Logger;
  /** Milliseconds that the platform may fall silent within one request; default a third of `retryFor`. */
  silenceMs?: number;
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

export interface ResumableUpload {
  /** Sends a video; resolves when the platform has it. Never makes a second one. @throws HubError */
  send(sending: Sending): Promise<PublishedVideo>;
  /**
   * Ends a session whose video is not wanted any more. Never rejects.
   * @param total size of the video, where its last chunk was sent already
   * @returns the video where this came too late, `unknown` where that cannot be told
   */
  abandon(session: string, total?: number): Promise<PublishedVideo | 'unknown' | undefined>;
}

const MOST_SILENT_MS = 60_000;
/** A token is used for so long before it is asked for again. */
const TOKEN_FOR_MS = 30_000;
const LONGEST_DELAY_MS = 8000;
const ABANDON_TIMEOUT_MS = 5000;

/**
 * Google's resumable protocol: a POST opens a session, PUTs of whole chunks follow. What was kept is asked for before
 * anything is sent again after a failure, so that a lost answer never makes a second video.
 */
export function createResumableUpload(deps: ResumableUploadDeps): ResumableUpload {
  const { target, platform, dispatcher, sender, chunkSize, retryFor, logger } = deps;
  const { retryDelayMs = 250, silenceMs = Math.min(Math.max(retryFor / 3, 1000), MOST_SILENT_MS) } = deps;

  const requests = createSessionRequests({ target, platform, dispatcher, sender, silenceMs });

  async function send(sending: Sending): Promise<PublishedVideo> {
    const { source, signal } = sending;
    let { session, lastChunkSent } = sending;
    let kept = 0;
    /** The farthest byte that was ever on its way: to pass it is progress. */
    let farthest = 0;
    let progressAt = performance.now();
    let failures = 0;
    let refusals = 0;
    let mustAsk = session !== undefined;
    let token = '';
    let tokenAt = 0;
    let refused: string | undefined;

    function progress(): void {
      progressAt = performance.now();
      failures = 0;
      refusals = 0;
    }

    async function pause(error: unknown, retryAfterMs = 0): Promise<void> {
      const left = progressAt + retryFor - performance.now();
      const delay = Math.min(LONGEST_DELAY_MS, retryDelayMs * 2 ** failures) * (0.5 + Math.random() / 2);
      failures += 1;
      if (left <= 0 || retryAfterMs > left)
        throw lastChunkSent ? uncertain(target, error) : asHubError(error);
      logger.debug('Sending a video is tried again', { target, attempt: failures, error });
      await sleep(Math.min(Math.max(delay, retryAfterMs), left), undefined, { signal });
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
      progressAt = performance.now();
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
          if (lastChunkSent) throw uncertain(target);
          logger.info('The upload session has ended, a new one is opened', {
            target,
            bytesAcknowledged: kept,
          });
          session = undefined;
          mustAsk = false;
          kept = 0;
          sending.onAcknowledged(0);
          if (failures > 0) await pause(platformUnavailable(target, 'video platform', 'session_lost'));
          else failures += 1;
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

  function asHubError(error: unknown): HubError {
    if (error instanceof HubError) return error;
    return platformUnavailable(target, 'video platform', 'unreachable', error);
  }

  return {
    send,
    async abandon(session, total) {
      const signal = AbortSignal.timeout(ABANDON_TIMEOUT_MS);
      try {
        const call = { token: await deps.accessToken(signal), signal };
        if (total !== undefined) {
          const outcome = await requests.ask(session, total, call);
          if (outcome.kind === 'done') return outcome.video;
          if (outcome.kind !== 'kept') return 'unknown';
        }
        await requests.cancel(session, call);
        return undefined;
      } catch (error) {
        logger.debug('An upload session could not be ended; it ends by itself', { target, error });
        return total === undefined ? undefined : 'unknown';
      }
    },
  };
}

/** Failures of the spool: to send again would not mend them. */
const DISK_CODES = new Set(['EIO', 'ENOENT', 'EBADF', 'EACCES', 'EMFILE', 'ENFILE', 'ENOSPC', 'ESTALE']);

function badRange(target: string): HubError {
  return videoError('upstream_bad_response', 'The video platform claims to have more than was sent', {
    target,
    reason: 'bad_range',
    hint: 'This is a fault of the platform, or of a proxy in front of it. Try again later.',
  });
}

/** The last chunk was sent, and what came of it cannot be learnt. */
export function uncertain(target: string, cause?: unknown): HubError {
  return videoError('upstream_unavailable', 'Whether the video was published cannot be told', {
    target,
    reason: 'outcome_unknown',
    hint: 'The platform fell silent, or ended the session, after its last byte was sent. Look for the video on the channel before you upload it again: the hub will not risk a second one.',
    cause,
  });
}
