import type { Dispatcher } from 'undici';
import type { VideoMetadata } from './metadata.ts';
import type { PlatformFailure, PublishedVideo, VideoPlatform } from './platform.ts';
import type { ChunkSender } from './sender/chunk-sender.ts';
import { type Answer, exchange } from './sender/exchange.ts';
import type { SpoolFile } from './spool-file.ts';
import { platformUnavailable } from './video-errors.ts';

export interface SessionRequestsDeps {
  target: string;
  platform: VideoPlatform;
  dispatcher: Dispatcher;
  sender: ChunkSender;
  /** Milliseconds that the platform may fall silent within one request. */
  silenceMs: number;
}

/** What the platform made of a request. */
export type Outcome =
  | { kind: 'done'; video: PublishedVideo }
  | { kind: 'kept'; bytes: number }
  | { kind: 'dead' }
  | { kind: 'failed'; failure: PlatformFailure };

/** The single requests of the resumable protocol. Network failures reject; whatever is answered is an outcome. */
export interface SessionRequests {
  /** Opens a session; `total` is the size of the video where it is known. */
  open(
    video: { metadata: VideoMetadata; contentType: string; total: number | undefined },
    call: Call,
  ): Promise<{ kind: 'opened'; uri: string } | Extract<Outcome, { kind: 'failed' }>>;
  /** Sends the bytes from `start` up to `end` of a spool file. */
  put(
    session: string,
    chunk: { source: SpoolFile; contentType: string; start: number; end: number },
    call: Call,
  ): Promise<Outcome>;
  /** Asks what the platform has. */
  ask(session: string, total: number | undefined, call: Call): Promise<Outcome>;
  /** Ends a session. */
  cancel(session: string, call: Call): Promise<void>;
}

interface Call {
  token: string;
  signal: AbortSignal;
}

export function createSessionRequests(deps: SessionRequestsDeps): SessionRequests {
  const { target, platform, dispatcher, sender, silenceMs } = deps;

  /** A request without bytes of the video. */
  function request(
    method: 'POST' | 'PUT' | 'DELETE',
    url: string,
    headers: Record<string, string>,
    body: string | null,
    { token, signal }: Call,
  ): Promise<Answer> {
    const all = { ...bearer(token), ...headers };
    return exchange(dispatcher, { method, url, headers: all, body, silenceMs }, signal);
  }

  function outcomeOf(answer: Answer): Outcome {
    const { status, headers, text } = answer;
    if (status === 308) return { kind: 'kept', bytes: keptBytes(headers.range) };
    if (status === 404 || status === 410) return { kind: 'dead' };
    if (status === 200 || status === 201) {
      const video = platform.publishedVideo(text);
      if (video !== undefined) return { kind: 'done', video };
    }
    return { kind: 'failed', failure: failureOf(answer) };
  }

  function failureOf({ status, headers, text }: Answer): PlatformFailure {
    if (status >= 400) return platform.failure(status, headers, text);
    const cause = new Error(`the video platform answered ${status} without what was asked for`);
    const error = platformUnavailable(target, 'video platform', 'bad_response', cause);
    return { error, isPassing: true, isTokenRefused: false, retryAfterMs: undefined };
  }

  return {
    async open({ metadata, contentType, total }, call) {
      const { path, body } = platform.sessionRequest(metadata);
      const url = new URL(path, platform.origin);
      const headers = {
        'content-type': 'application/json; charset=UTF-8',
        'x-upload-content-type': contentType,
        ...(total !== undefined && { 'x-upload-content-length': String(total) }),
      };
      const answer = await request('POST', url.href, headers, body, call);
      const { location } = answer.headers;
      const isOpened = answer.status === 200 || answer.status === 201;
      if (isOpened && typeof location === 'string' && URL.canParse(location, url.href)) {
        return { kind: 'opened', uri: new URL(location, url).href };
      }
      return { kind: 'failed', failure: failureOf(answer) };
    },
    async put(session, { source, contentType, start, end }, { token, signal }) {
      const headers = {
        ...bearer(token),
        'content-length': String(end - start),
        // The total of a video that is still coming is not known yet.
        'content-range': `bytes ${start}-${end - 1}/${source.isComplete ? source.size : '*'}`,
        'content-type': contentType,
      };
      const chunk = { url: session, headers, path: source.path, start, end, silenceMs };
      return outcomeOf(await sender.send(chunk, signal));
    },
    async ask(session, total, call) {
      const headers = { 'content-length': '0', 'content-range': `bytes */${total ?? '*'}` };
      return outcomeOf(await request('PUT', session, headers, null, call));
    },
    async cancel(session, call) {
      await request('DELETE', session, { 'content-length': '0' }, null, call);
    },
  };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Bytes that a 308 says were kept: `Range: bytes=0-1234`, or no such header for none. */
function keptBytes(range: string | string[] | undefined): number {
  const last = typeof range === 'string' ? /^(?:bytes[= ])?0-(\d+)$/.exec(range.trim())?.[1] : undefined;
  return last === undefined ? 0 : Number(last) + 1;
}
