import type { VideoPlatform } from './platform.ts';
import type { ResumableUpload } from './resumable-upload.ts';

/** The account that an upload goes to. */
export interface UploadAccount {
  platform: VideoPlatform;
  resumable: ResumableUpload;
  /** A good access token, another one than `refused`. @throws HubError */
  accessToken(signal: AbortSignal, refused?: string): Promise<string>;
}
