import type { S3Client } from '@aws-sdk/client-s3';

/** Where a bucket is, and the prefix of every key in it. */
export interface S3Place {
  bucket: string;
  prefix: string;
  region?: string;
  endpoint?: string;
}

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** The AWS SDK, loaded at first use: a hub that keeps files never needs it. */
export const sdk = () => import('@aws-sdk/client-s3');

/**
 * The client of a place, opened at the first call and kept.
 * @param credentials default: as the AWS SDK finds them (environment, role)
 */
export function createS3Opener(
  { region, endpoint }: S3Place,
  credentials: S3Credentials | undefined,
): () => Promise<S3Client> {
  let opening: Promise<S3Client> | undefined;
  return () => {
    opening ??= sdk().then(
      ({ S3Client }) =>
        new S3Client({
          ...(region !== undefined && { region }),
          ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
          ...(credentials !== undefined && { credentials }),
          // Services that only resemble S3 refuse the newer checksums, and with them a signed address demands the
          // checksum of an empty body.
          requestChecksumCalculation: 'WHEN_REQUIRED',
          responseChecksumValidation: 'WHEN_REQUIRED',
        }),
    );
    return opening;
  };
}
