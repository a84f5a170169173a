import type { VideoMetadata } from './metadata.ts';
import type { PublishedVideo, VideoPlatform } from './platform.ts';
import type { UploadRecord, UploadResult } from './upload-record.ts';

/** What is answered to an upload whose video is published; says where the platform did otherwise than asked. */
export function publishedResult(
  video: PublishedVideo,
  metadata: VideoMetadata,
  record: UploadRecord,
  platform: VideoPlatform,
): UploadResult {
  const warnings = [...record.warnings];
  const { privacyStatus } = video;
  const isForced = privacyStatus !== undefined && privacyStatus !== metadata.privacyStatus;
  if (isForced) {
    warnings.push(
      `The platform made the video ${privacyStatus} instead of ${metadata.privacyStatus}. It does so for projects that have not passed its API audit: until then every upload stays private.`,
    );
  }
  return {
    success: true,
    videoId: video.id,
    url: platform.watchUrl(video.id),
    thumbnailUploaded: false,
    ...record.extras,
    ...(isForced && { privacyStatus }),
    ...(warnings.length > 0 && { warnings }),
    uploadId: record.uploadId,
  };
}
