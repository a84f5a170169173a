import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { HubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import type { VideoMetadata } from './metadata.ts';
import type { PlatformFailure, PublishedVideo, VideoPlatform } from './platform.ts';
import type { SpoolFile } from './spool-file.ts';
import { systemCodeOf } from './system-code.ts';
import { platformUnavailable, videoError } from './video-errors.ts';

export interface ResumableUploadDeps {
  target: string;
  platform: VideoPlatform;
  dispatcher: Dispatcher;
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

/** What the platform made of a request to a session. */
type Outcome =
  | { kind: 'done'; video: PublishedVideo }
  | { kind: 'kept'; bytes: number }
  | { kind: 'dead' }
  | { kind: 'failed'; failure: PlatformFailure; token: string };

const MOST_SILENT_MS = 60_000;
const LONGEST_DELAY_MS = 8000;
const ABANDON_TIMEOUT_MS = 5000;
const LONGEST_ANSWER = 1024 * 1024;

/**
 * Google's resumable protocol: a POST opens a session, PUTs of whole chunks follow. What was kept is asked for before
 * anything is sent again after a failure, so that a lost answer never makes a second video.
 */
export function createResumableUpload(deps: ResumableUploadDeps): ResumableUpload {
  const { target, platform, dispatcher, chunkSize, retryFor, logger } = deps;
  const { retryDelayMs = 250, silenceMs = Math.min(Math.max(retryFor / 3, 1000), MOST_SILENT_MS) } = deps;

  /** One request, whose silence is bounded: while its body flows no clock runs out. */
  async function exchange(
    method: 'POST' | 'PUT' | 'DELETE',
    url: URL,
    headers: Record<string, string>,
    body: string | AsyncIterable<Buffer> | null,
    signal: AbortSignal,
  ): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; text: string }> {
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new Error('the platform fell silent')), silenceMs);
    try {
      const answer = await dispatcher.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        body: body === null || typeof body === 'string' ? body : (watched(body, timer) as never),
        signal: AbortSignal.any([signal, silence.signal]),
      });
      let text = '';
      answer.body.setEncoding('utf8');
      for await (const chunk of answer.body) {
        timer.refresh();
        if (text.length < LONGEST_ANSWER) text += chunk;
      }
      return { status: answer.statusCode, headers: answer.headers, text };
    } finally {
      clearTimeout(timer);
    }
  }

  async function openSession(
    sending: Sending,
    token: string,
  ): Promise<{ uri: string } | Extract<Outcome, { kind: 'failed' }>> {
    const { path, body } = platform.sessionRequest(sending.metadata);
    const url = new URL(path, platform.origin);
    const answer = await exchange(
      'POST',
      url,
      {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json; charset=UTF-8',
        'x-upload-content-type': sending.contentType,
        ...(sending.source.isComplete && { 'x-upload-content-length': String(sending.source.size) }),
      },
      body,
      sending.signal,
    );
    const { location } = answer.headers;
    if (answer.status === 200 && typeof location === 'string' && URL.canParse(location, url.href)) {
      return { uri: new URL(location, url).href };
    }
    return { kind: 'failed', failure: failureOf(answer), token };
  }

  /** Sends the bytes from `start` to `end`, or asks what was kept where there are none. */
  async function put(
    session: string,
    { source, contentType, signal }: Sending,
    start: number,
    end: number,
    token: string,
  ): Promise<Outcome> {
    const total = source.isComplete ? String(source.size) : '*';
    const answer = await exchange(
      'PUT',
      new URL(session),
      {
        authorization: `Bearer ${token}`,
        'content-length': String(end - start),
        'content-range': start === end ? `bytes */${total}` : `bytes ${start}-${end - 1}/${total}`,
        ...(start !== end && { 'content-type': contentType }),
      },
      start === end ? null : source.read(start, end),
      signal,
    );
    if (answer.status === 308) return { kind: 'kept', bytes: keptBytes(answer.headers.range) };
    if (answer.status === 404 || answer.status === 410) return { kind: 'dead' };
    if (answer.status === 200 || answer.status === 201) {
      const video = platform.publishedVideo(answer.text);
      if (video !== undefined) return { kind: 'done', video };
    }
    return { kind: 'failed', failure: failureOf(answer), token };
  }

  function failureOf(answer: {
    status: number;
    headers: Record<string, string | string[] | undefined>;
    text: string;
  }): PlatformFailure {
    if (answer.status < 400) {
      const cause = new Error(`the video platform answered ${answer.status} without what was asked for`);
      const error = platformUnavailable(target, 'video platform', 'bad_response', cause);
      return { error, isPassing: true, isTokenRefused: false, retryAfterMs: undefined };
    }
    return platform.failure(answer.status, answer.headers, answer.text);
  }

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
      if (left <= 0 || retryAfterMs > left) throw asHubError(error);
      logger.debug('Sending a video is tried again', { target, attempt: failures, error });
      await sleep(Math.min(Math.max(delay, retryAfterMs), left), undefined, { signal });
    }

    /** Does the next step; undefined when a session was opened. */
    async function step(): Promise<Outcome | undefined> {
      if (session === undefined) await source.until(chunkSize + 1, signal);
      const token = await deps.accessToken(signal, refused);
      if (session === undefined) {
        const opened = await openSession(sending, token);
        if ('kind' in opened) return opened;
        session = opened.uri;
        kept = 0;
        await sending.onSession(session);
        return undefined;
      }
      if (mustAsk) return put(session, sending, kept, kept, token);
      // A chunk is not the last one as long as a byte is there beyond it: the last one completes the upload.
      await source.until(kept + chunkSize + 1, signal);
      const end = Math.min(kept + chunkSize, source.size);
      if (source.isComplete && end === source.size) {
        if (!lastChunkSent) await sending.onLastChunk();
        lastChunkSent = true;
      }
      const outcome = await put(session, sending, kept, end, token);
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
            refused = outcome.token;
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
        const authorization = `Bearer ${await deps.accessToken(signal)}`;
        const url = new URL(session);
        if (total !== undefined) {
          const headers = { authorization, 'content-length': '0', 'content-range': `bytes */${total}` };
          const answer = await exchange('PUT', url, headers, null, signal);
          const video = answer.status < 300 ? platform.publishedVideo(answer.text) : undefined;
          if (video !== undefined) return video;
          if (answer.status !== 308) return 'unknown';
        }
        await exchange('DELETE', url, { authorization, 'content-length': '0' }, null, signal);
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

/** Passes the pieces of a body on; each one that is asked for shows that the platform still reads. */
async function* watched(body: AsyncIterable<Buffer>, timer: NodeJS.Timeout): AsyncGenerator<Buffer> {
  for await (const piece of body) {
    timer.refresh();
    yield piece;
  }
  timer.refresh();
}

/** Bytes that a 308 says were kept: `Range: bytes=0-1234`, or no such header for none. */
function keptBytes(range: string | string[] | undefined): number {
  const last = typeof range === 'string' ? /^(?:bytes[= ])?0-(\d+)$/.exec(range.trim())?.[1] : undefined;
  return last === undefined ? 0 : Number(last) + 1;
}

function badRange(target: string): HubError {
  return videoError('upstream_bad_response', 'The video platform claims to have more than was sent', {
    target,
    reason: 'bad_range',
    hint: 'This is a fault of the platform, or of a proxy in front of it. Try again later.',
  });
}

/** The last chunk was sent, its answer lost, and the platform no longer knows the session. */
export function uncertain(target: string): HubError {
  return videoError('upstream_bad_response', 'Whether the video was published cannot be told', {
    target,
    reason: 'outcome_unknown',
    hint: 'The platform ended the session after its last byte was sent. Look for the video on the channel before you upload it again: the hub will not risk a second one.',
  });
}
