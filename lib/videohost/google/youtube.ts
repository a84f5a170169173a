import { type Dispatcher, fetch } from 'undici';
import type { HubError } from '../../errors/hub-error.ts';
import type { PlatformCall, VideoPlatform } from '../platform.ts';
import { platformUnavailable } from '../video-errors.ts';
import { translateApiFailure } from './errors.ts';

export interface GooglePlatformDeps {
  target: string;
  /** Origin of the API. */
  origin: string;
  dispatcher: Dispatcher;
  now?: () => number;
  /** Milliseconds that a call beside the video may take; default 60,000. */
  timeoutMs?: number;
}

const library = () => import('googleapis/build/src/apis/youtube/v3.js');

/** The Data API v3. Bytes of videos do not pass here: the library cannot send them resumably. */
export function createGooglePlatform(deps: GooglePlatformDeps): VideoPlatform {
  const { target, origin, dispatcher, now = Date.now, timeoutMs = 60_000 } = deps;

  /** Runs one call of the library by the hub's own connections, and translates its failure. */
  async function run(
    { accessToken, signal }: PlatformCall,
    call: (
      api: InstanceType<Awaited<ReturnType<typeof library>>['youtube_v3']['Youtube']>,
      options: object,
    ) => Promise<unknown>,
  ): Promise<void> {
    const { youtube_v3 } = await library();
    const options = {
      // Media uploads see only the address that is given with the call.
      rootUrl: `${origin}/`,
      headers: { authorization: `Bearer ${accessToken}` },
      retry: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      fetchImplementation: (url: URL, init: object) => fetch(url, { ...init, dispatcher }),
    };
    try {
      await call(new youtube_v3.Youtube({ rootUrl: `${origin}/` }), options);
    } catch (error) {
      signal.throwIfAborted();
      throw translate(error);
    }
  }

  function translate(error: unknown): HubError {
    const { response } = error as { response?: { status?: number; headers?: Headers; data?: unknown } };
    if (response?.status === undefined) {
      return platformUnavailable(target, 'video platform', 'unreachable', error);
    }
    const body = typeof response.data === 'string' ? response.data : JSON.stringify(response.data ?? {});
    const retryAfter = response.headers?.get?.('retry-after') ?? undefined;
    return translateApiFailure(target, response.status, { 'retry-after': retryAfter }, body, now()).error;
  }

  return {
    origin,
    sessionRequest(metadata) {
      const query = new URLSearchParams({ uploadType: 'resumable', part: 'snippet,status' });
      if (metadata.notifySubscribers !== undefined) {
        query.set('notifySubscribers', String(metadata.notifySubscribers));
      }
      const { title, description, tags, categoryId, defaultLanguage } = metadata;
      const { privacyStatus, publishAt, madeForKids } = metadata;
      return {
        path: `/upload/youtube/v3/videos?${query}`,
        body: JSON.stringify({
          snippet: {
            title,
            description,
            ...(tags.length > 0 && { tags }),
            categoryId,
            ...(defaultLanguage !== undefined && { defaultLanguage }),
          },
          status: {
            privacyStatus,
            ...(publishAt !== undefined && { publishAt }),
            ...(madeForKids !== undefined && { selfDeclaredMadeForKids: madeForKids }),
          },
        }),
      };
    },
    publishedVideo(body) {
      try {
        const video = JSON.parse(body) as { id?: unknown; status?: { privacyStatus?: unknown } } | null;
        if (typeof video?.id !== 'string' || video.id === '') return undefined;
        const status = video.status?.privacyStatus;
        return { id: video.id, privacyStatus: typeof status === 'string' ? status : undefined };
      } catch {
        return undefined;
      }
    },
    failure: (status, headers, body) => translateApiFailure(target, status, headers, body, now()),
    watchUrl: (videoId) => `https://www.youtube.com/watch?v=${encodeURIComponent(videoId)}`,
    setThumbnail: (videoId, { type, bytes }, call) =>
      run(call, (api, options) =>
        api.thumbnails.set({ videoId, media: { mimeType: type, body: bytes } }, options),
      ),
    addToPlaylist: (videoId, playlistId, call) =>
      run(call, (api, options) =>
        api.playlistItems.insert(
          {
            part: ['snippet'],
            requestBody: { snippet: { playlistId, resourceId: { kind: 'youtube#video', videoId } } },
          },
          options,
        ),
      ),
    addCaptions: (videoId, { language, text }, call) =>
      run(call, (api, options) =>
        api.captions.insert(
          {
            part: ['snippet'],
            requestBody: { snippet: { videoId, language, name: '' } },
            media: { mimeType: 'application/octet-stream', body: text },
          },
          options,
        ),
      ),
  };
}
