import { Type } from '@sinclair/typebox';
import { answer, oneOf, orNull, ref, text, time, whole } from './vocabulary.ts';

const CATEGORIES =
  '1 Film & Animation, 2 Autos & Vehicles, 10 Music, 15 Pets & Animals, 17 Sports, 19 Travel & Events, 20 Gaming, 22 People & Blogs, 23 Comedy, 24 Entertainment, 25 News & Politics, 26 Howto & Style, 27 Education, 28 Science & Technology';
const file = (description: string, contentMediaType: string) =>
  Type.String({ format: 'binary', contentMediaType, description });

export const videoSchemas = {
  UploadForm: Type.Object(
    {
      video: Type.Optional(file('The video, of any size.', 'application/octet-stream')),
      staged: Type.Optional(
        text('In place of `video`: the `stagingId` of a video that was put there before.'),
      ),
      title: text('At most 100 characters.', { minLength: 1, maxLength: 100 }),
      description: Type.Optional(text(undefined, { default: '' })),
      tags: Type.Optional(text('Separated by commas.')),
      categoryId: Type.Optional(
        Type.Unsafe<string>({
          type: 'string',
          enum: CATEGORIES.split(', ').map((category) => category.split(' ')[0]),
          default: '22',
          description: CATEGORIES,
        }),
      ),
      privacyStatus: Type.Optional(
        Type.Unsafe<string>({ type: 'string', enum: ['public', 'unlisted', 'private'], default: 'unlisted' }),
      ),
      thumbnail: Type.Optional(file('JPEG or PNG.', 'image/jpeg')),
    },
    { anyOf: [{ required: ['video'] }, { required: ['staged'] }] },
  ),
  StagedPlace: answer({
    stagingId: text(),
    uploadUrl: text('Takes one `PUT` of the bytes; whoever has it needs nothing else.', { format: 'uri' }),
    method: oneOf(['PUT']),
    expiresAt: time('Until when the `PUT` may begin.'),
  }),
  UploadResult: answer({
    success: Type.Boolean(),
    videoId: text(),
    url: text('Where to watch it.'),
    thumbnailUploaded: Type.Boolean(),
    thumbnailError: Type.Optional(answer({ code: text(), message: text() })),
    uploadId: text(),
  }),
  Upload: answer({
    uploadId: text(),
    target: text(),
    state: oneOf(['receiving', 'sending', 'done', 'failed', 'cancelled']),
    bytesReceived: whole(),
    bytesAcknowledged: whole('What the platform has.'),
    bytesTotal: orNull(whole()),
    startedAt: time(),
    result: Type.Optional(ref('UploadResult')),
    error: Type.Optional(Type.Unknown({ description: 'As `error` of an error body.' })),
  }),
  UploadList: answer({ uploads: Type.Array(ref('Upload')) }),
  AcceptedUpload: answer({ uploadId: text(), statusUrl: text() }),
  AuthorizationUrl: answer({ authUrl: text('To be opened in a browser.', { format: 'uri' }) }),
  AccountStatus: answer({ authenticated: Type.Boolean(), target: text() }),
  Granted: answer({ success: Type.Boolean(), target: text() }),
};
