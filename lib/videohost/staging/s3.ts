import { createHash, randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { createS3Opener, type S3Credentials, type S3Place, sdk } from '../s3.ts';

export interface StagingOptions {
  place: S3Place;
  /** Default: as the AWS SDK finds them (environment, role). */
  credentials?: S3Credentials;
}

/** A place that a caller may put a video to, past a platform that takes no large bodies. */
export interface StagedPlace {
  stagingId: string;
  /** Address for one `PUT` of the bytes; whoever has it needs nothing else. */
  uploadUrl: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** Videos that wait in a bucket to be uploaded. Each belongs to the account and caller that it was made for. */
export interface Staging {
  create(target: string, callerId: string | null): Promise<StagedPlace>;
  /** The staged bytes; undefined where there are none. */
  open(
    target: string,
    callerId: string | null,
    stagingId: string,
    signal: AbortSignal,
  ): Promise<{ size: number; bytes: Readable } | undefined>;
  remove(target: string, callerId: string | null, stagingId: string): Promise<void>;
}

/** A caller begins his `PUT` within this time; in seconds. */
const URL_LIFETIME_S = 3600;
const STAGING_ID = /^[0-9a-f]{32}$/;

/** Signature version 4 in the query of an address. */
interface Presigner {
  presign(request: object, options: { expiresIn: number }): Promise<{ query: Record<string, string> }>;
}

export function createStaging({ place, credentials }: StagingOptions): Staging {
  const { bucket: Bucket, prefix } = place;
  const client = createS3Opener(place, credentials);

  /** Another caller's id leads elsewhere, to nothing. */
  function keyOf(target: string, callerId: string | null, stagingId: string): string {
    const owner = createHash('sha256')
      .update(JSON.stringify([target, callerId]))
      .digest('hex')
      .slice(0, 16);
    return `${prefix}staged/${owner}/${stagingId}`;
  }

  /** Where an object lies: under its bucket's own name at AWS, under the path elsewhere. */
  async function addressOf(key: string): Promise<URL> {
    if (place.endpoint !== undefined) return new URL(`/${Bucket}/${key}`, place.endpoint);
    const region = await (await client()).config.region();
    return Bucket.includes('.')
      ? new URL(`https://s3.${region}.amazonaws.com/${Bucket}/${key}`)
      : new URL(`https://${Bucket}.s3.${region}.amazonaws.com/${key}`);
  }

  async function signedPut(key: string): Promise<string> {
    const url = await addressOf(key);
    // The client's own signer can do this; only the type that it is declared with does not say so.
    const signer = (await (await client()).config.signer()) as unknown as Presigner;
    const { query } = await signer.presign(
      {
        method: 'PUT',
        protocol: url.protocol,
        hostname: url.hostname,
        ...(url.port !== '' && { port: Number(url.port) }),
        path: url.pathname,
        query: {},
        headers: { host: url.host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
      },
      { expiresIn: URL_LIFETIME_S },
    );
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    return url.href;
  }

  return {
    async create(target, callerId) {
      const stagingId = randomBytes(16).toString('hex');
      return {
        stagingId,
        uploadUrl: await signedPut(keyOf(target, callerId, stagingId)),
        expiresAt: new Date(Date.now() + URL_LIFETIME_S * 1000).toISOString(),
      };
    },
    async open(target, callerId, stagingId, signal) {
      if (!STAGING_ID.test(stagingId)) return undefined;
      const { GetObjectCommand } = await sdk();
      try {
        const Key = keyOf(target, callerId, stagingId);
        const command = new GetObjectCommand({ Bucket, Key });
        const answer = await (await client()).send(command, { abortSignal: signal });
        return { size: answer.ContentLength ?? 0, bytes: answer.Body as Readable };
      } catch (error) {
        const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
        if (status === 404) return undefined;
        throw error;
      }
    },
    async remove(target, callerId, stagingId) {
      const { DeleteObjectCommand } = await sdk();
      const Key = keyOf(target, callerId, stagingId);
      await (await client()).send(new DeleteObjectCommand({ Bucket, Key }));
    },
  };
}
