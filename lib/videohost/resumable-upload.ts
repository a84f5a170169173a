import type { Dispatcher } from 'undici';
import type { PublishedVideo, VideoPlatform } from './platform.ts';
import { type Sending, type SendVideoDeps, sendVideo } from './send-video.ts';
import type { ChunkSender } from './sender/chunk-sender.ts';
import { createSessionRequests } from './session-requests.ts';

export interface ResumableUploadDeps extends Omit<SendVideoDeps, 'requests'> {
  platform: VideoPlatform;
  dispatcher: Dispatcher;
  sender: ChunkSender;
  /** Milliseconds that the platform may fall silent within one request; default a third of `retryFor`. */
  silenceMs?: number;
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
const ABANDON_TIMEOUT_MS = 5000;

/** Google's resumable protocol: a POST opens a session, PUTs of whole chunks follow. */
export function createResumableUpload(deps: ResumableUploadDeps): ResumableUpload {
  const { target, platform, dispatcher, sender, retryFor, logger } = deps;
  const { silenceMs = Math.min(Math.max(retryFor / 3, 1000), MOST_SILENT_MS) } = deps;

  const requests = createSessionRequests({ target, platform, dispatcher, sender, silenceMs });

  return {
    send: (sending) => sendVideo(sending, { ...deps, requests }),
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
