import { type Static, Type } from '@sinclair/typebox';
import { filledSection, flag, milliseconds, section, size, text } from './build.ts';

/** One account of the video platform (spec §2.4). */
export const videoAccountSchema = section({
  id: text('Unique account identifier, the value of `x-target`.', { format: 'id' }),
  client_id: text('OAuth 2.0 client ID.'),
  client_secret: text('OAuth 2.0 client secret.'),
  redirect_uri: text('Callback address, exactly as registered, `target` query parameter included.', {
    format: 'http-url',
  }),
});

/** An S3 place for tokens or staged uploads. */
const bucketProperties = {
  bucket: text('Name of the bucket.'),
  prefix: Type.String({ default: '', description: 'Prefix of every key.' }),
  region: Type.Optional(text('Region; default: from the environment.')),
  endpoint: Type.Optional(text('Address of an S3-compatible service.', { format: 'http-url' })),
};

export const videohostSection = section(
  {
    accounts: Type.Array(videoAccountSchema, { description: 'Accounts of the video platform.' }),
    token_storage_path: text('Directory of the token files.', { default: './tokens' }),
    token_storage_file: text('Name of a token file; `{id}` is the account id.', {
      default: 'videohost_token_{id}.json',
    }),
    token_store: Type.Union(
      [Type.Literal('file'), section({ type: Type.Literal('s3'), ...bucketProperties })],
      {
        default: 'file',
        description: '`file`, or `{type: s3, bucket, prefix, region, endpoint}`.',
        expected: 'file or an object with type: s3 and a bucket',
      },
    ),
    staging: Type.Optional(section(bucketProperties, "S3 bucket for uploads past a platform's body limit.")),
    upload: filledSection(
      {
        maxFileSize: size('Largest video.', '128gb'),
        maxThumbnailSize: size('Largest thumbnail.', '2mb'),
        spoolPath: text('Directory of videos in transit.', { default: './spool' }),
        chunkSize: size('Bytes of one request to the platform; a multiple of 256 KiB.', '8mb'),
        retryFor: milliseconds('Time without progress towards the platform before an upload fails.', {
          default: 30_000,
        }),
      },
      'Uploads.',
    ),
    endpoints: filledSection(
      {
        authorize: text('OAuth authorization endpoint.', {
          default: 'https://accounts.google.com/o/oauth2/v2/auth',
          format: 'http-url',
        }),
        token: text('OAuth token endpoint.', {
          default: 'https://oauth2.googleapis.com/token',
          format: 'http-url',
        }),
        revoke: text('OAuth revocation endpoint.', {
          default: 'https://oauth2.googleapis.com/revoke',
          format: 'http-url',
        }),
        api: text('Origin of the video API.', { default: 'https://www.googleapis.com', format: 'http-url' }),
      },
      'Addresses of the platform, for a proxy or a test double.',
    ),
    requireState: flag(
      'Refuse a callback without a valid state. False only for odd identity providers.',
      true,
    ),
  },
  'Video accounts.',
);

export type VideohostConfig = Static<typeof videohostSection>;
export type VideoAccountConfig = Static<typeof videoAccountSchema>;
export type VideoTokenStore = VideohostConfig['token_store'];
