import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FakeVideo } from '../helpers/fake-video-platform.ts';
import { sendRaw } from '../helpers/http.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';
import { until } from '../helpers/until.ts';
import {
  authorize,
  BOUNDARY,
  filesIn,
  forgetUploads,
  type Part,
  PNG,
  SCOPES,
  sha256,
  startVideoHub,
  thumbnail,
  title,
  type VideoHub,
  video,
} from '../helpers/video.ts';

const CHUNK = 256 * 1024;
const LIMITS = { chunkSize: CHUNK, maxFileSize: 2_000_000, maxThumbnailSize: 100_000, retryFor: 2000 };
const JPEG = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), randomBytes(100)]);

let hub: VideoHub;
beforeAll(async () => {
  hub = await startVideoHub({ videohost: { upload: LIMITS } });
});
beforeEach(() => {
  forgetUploads(hub);
  hub.platform.forcesPrivate = false;
});

function leftovers(): string[] {
  return hub.spooled().filter((file) => !file.endsWith('record.json'));
}

async function published(
  parts: readonly Part[],
): Promise<{ result: Record<string, unknown>; video: FakeVideo }> {
  const answer = await hub.upload(parts);
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"success":true')]);
  expect(hub.platform.videos).toHaveLength(1);
  return { result: answer.json(), video: hub.platform.videos[0] as FakeVideo };
}

async function refused(parts: readonly Part[], headers: Record<string, string> = {}) {
  const answer = await hub.upload(parts, headers);
  expect(hub.platform.videos).toEqual([]);
  await until('an empty spool', () => leftovers().length === 0);
  return { status: answer.status, ...answer.json().error };
}

/** An upload whose bytes the test sends one by one. */
function openForm(headers: Record<string, string> = {}): {
  request: ClientRequest;
  text(name: string, value: string): void;
  file(bytes: Buffer): void;
  more(bytes: Buffer): void;
  end(): Promise<{ status: number; body: string }>;
} {
  const request = httpRequest(`${hub.url}/videohost/upload`, {
    method: 'POST',
    agent: false,
    headers: { 'x-target': 'main', 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, ...headers },
  });
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', async (message) => {
      let body = '';
      for await (const chunk of message) body += chunk;
      resolve({ status: message.statusCode ?? 0, body });
    });
  });
  answer.catch(() => {});
  const head = (rest: string) =>
    request.write(`\r\n--${BOUNDARY}\r\ncontent-disposition: form-data; ${rest}\r\n\r\n`);
  return {
    request,
    text(name, value) {
      head(`name="${name}"`);
      request.write(value);
    },
    file(bytes) {
      head('name="video"; filename="v.mp4"\r\ncontent-type: video/mp4');
      request.write(bytes);
    },
    more: (bytes) => void request.write(bytes),
    end() {
      request.end(`\r\n--${BOUNDARY}--\r\n`);
      return answer;
    },
  };
}

const kinds = () => hub.platform.requests.map(({ kind }) => kind);

describe('an upload', () => {
  test('with a video and a title is published with the defaults and answered by the watch URL [S4.2-upload, S2.6-video, S2.6-title, S2.6-description, S2.6-tags, S2.6-category, S2.6-privacy, S2.7-response, S8-category]', async () => {
    const content = randomBytes(100_000);
    const { result, video: made } = await published([title, video(content)]);
    expect(result).toEqual({
      success: true,
      videoId: made.id,
      url: `https://www.youtube.com/watch?v=${made.id}`,
      thumbnailUploaded: false,
      uploadId: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(made).toMatchObject({
      sha256: sha256(content),
      contentType: 'video/mp4',
      notifySubscribers: null,
    });
    expect(made.metadata).toEqual({
      snippet: { title: 'A title', description: '', categoryId: '22' },
      status: { privacyStatus: 'unlisted' },
    });
  });

  test('passes every field on, in any order of the parts [C7-any-order, S2.6-description, S2.6-tags, S2.6-category, S2.6-privacy, S2.6-thumbnail]', async () => {
    const { result, video: made } = await published([
      thumbnail(),
      ['tags', ' one, zwei ,, drei'],
      ['privacyStatus', 'public'],
      video(randomBytes(600_000)),
      ['categoryId', '27'],
      ['description', 'Zeile 1\r\nZeile „2“ 🎬'],
      ['title', 'Ein Titel mit ü und 🎬'],
    ]);
    expect(result.thumbnailUploaded).toBe(true);
    expect(made.metadata).toEqual({
      snippet: {
        title: 'Ein Titel mit ü und 🎬',
        description: 'Zeile 1\r\nZeile „2“ 🎬',
        tags: ['one', 'zwei', 'drei'],
        categoryId: '27',
      },
      status: { privacyStatus: 'public' },
    });
    expect(made.thumbnail?.bytes.equals(PNG)).toBe(true);
  });

  test('judges a thumbnail by its content, not by its name [C7-thumbnail-content, S2.6-thumbnail]', async () => {
    const { video: made } = await published([title, video(), thumbnail(JPEG, 'wrong.png', 'image/png')]);
    expect(made.thumbnail).toEqual({ type: 'image/jpeg', bytes: JPEG });
    hub.platform.videos.length = 0;
    const gif = Buffer.concat([Buffer.from('GIF89a'), randomBytes(100)]);
    expect(await refused([title, video(), thumbnail(gif, 'image.png', 'image/png')])).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'thumbnail',
    });
  });

  test('whose thumbnail the platform refuses is published all the same [C7-thumbnail-failure]', async () => {
    hub.platform.faults.push({ on: 'thumbnail', do: { answer: 403, reason: 'forbidden' } });
    const { result } = await published([title, video(), thumbnail()]);
    expect(result).toMatchObject({
      success: true,
      thumbnailUploaded: false,
      thumbnailError: { code: 'insufficient_permissions', message: 'Insufficient permissions' },
    });
  });

  test('tries a thumbnail again while the platform is down [C7-thumbnail-failure]', async () => {
    hub.platform.faults.push({ on: 'thumbnail', do: { answer: 503 } });
    const { result } = await published([title, video(), thumbnail()]);
    expect(result).toMatchObject({ thumbnailUploaded: true });
    expect(result).not.toHaveProperty('thumbnailError');
  });

  test('takes the extras: time of publication, audience, language, playlist, no bell, captions', async () => {
    const srt = '1\n00:00:00,000 --> 00:00:01,000\nGrüße\n';
    authorize(hub.platform, hub.tokenFile, { scope: Object.values(SCOPES).join(' ') });
    const { result, video: made } = await published([
      ['publishAt', '2027-01-31T18:00:00+01:00'],
      ['madeForKids', 'true'],
      ['defaultLanguage', 'de'],
      ['playlistId', 'PL-123'],
      ['notifySubscribers', 'false'],
      title,
      video(),
      { name: 'captions', content: Buffer.from(srt), filename: 'c.srt', type: 'application/x-subrip' },
    ]);
    expect(made.metadata).toEqual({
      snippet: { title: 'A title', description: '', categoryId: '22', defaultLanguage: 'de' },
      status: {
        privacyStatus: 'private',
        publishAt: '2027-01-31T17:00:00.000Z',
        selfDeclaredMadeForKids: true,
      },
    });
    expect([made.notifySubscribers, made.playlists, made.captions]).toEqual([
      'false',
      ['PL-123'],
      { language: 'de', text: srt },
    ]);
    expect(result).toMatchObject({ addedToPlaylist: true, captionsUploaded: true });
  });

  test('whose extras fail is published, and says what failed', async () => {
    const { result } = await published([
      title,
      video(),
      ['playlistId', 'PL-missing'],
      { name: 'captions', content: Buffer.from('WEBVTT\n'), filename: 'c.vtt' },
    ]);
    expect(result).toMatchObject({
      success: true,
      addedToPlaylist: false,
      playlistError: { code: 'upstream_error', message: expect.any(String) },
      captionsUploaded: false,
      captionsError: { code: 'insufficient_permissions', message: 'Insufficient permissions' },
    });
  });

  test('that the platform forces to be private says so', async () => {
    hub.platform.forcesPrivate = true;
    const { result } = await published([title, video(), ['privacyStatus', 'public'], ['colour', 'red']]);
    expect(result).toMatchObject({ privacyStatus: 'private', success: true });
    expect(result.warnings).toEqual([
      'There is no field colour',
      expect.stringMatching(/made the video private instead of public.*audit/),
    ]);
  });

  test('is logged from its begin to its end [S6-upload-events, S6-video-errors]', async () => {
    const { result } = await published([title, video()]);
    hub.platform.faults.push({ on: 'open', do: { answer: 403, reason: 'quotaExceeded' } });
    await hub.upload([title, video()]);
    const records = () => hub.logs().filter(({ module }) => module === 'videohost');
    await until('the record of the failure', () => records().some(({ level }) => level === 'error'));
    const mine = records().filter(({ uploadId }) => uploadId === result.uploadId);
    expect(mine.map(({ message }) => message)).toEqual([
      'An upload began',
      'An upload was received',
      'A video was published',
    ]);
    const failure = records().findLast(({ level }) => level === 'error');
    expect(failure).toMatchObject({ target: 'main', code: 'quotaExceeded', reason: 'quotaExceeded' });
    expect(JSON.stringify(failure.error)).toMatch(/the video platform answered 403 quotaExceeded/);
  });
});

describe('a form is refused, naming the field and leaving nothing on disk, for', () => {
  const long = (characters: number): Part => ['title', '🎬'.repeat(characters)];
  test.each<[string, Part[], number, string]>([
    ['a missing video', [title], 400, 'video'],
    ['an empty video', [title, video(Buffer.alloc(0))], 400, 'video'],
    ['a video that is a text', [title, ['video', 'abc']], 400, 'video'],
    ['two videos', [title, video(), video()], 400, 'video'],
    ['a file of another name', [title, { name: 'file', content: PNG, filename: 'v.mp4' }], 400, 'file'],
    ['a missing title', [video()], 400, 'title'],
    ['an empty title', [['title', ' '], video()], 400, 'title'],
    ['two titles', [title, title, video()], 400, 'title'],
    ['a title of 101 characters', [long(101), video()], 400, 'title'],
    ['an unknown category', [title, video(), ['categoryId', '3']], 400, 'categoryId'],
    ['an unknown privacy', [title, video(), ['privacyStatus', 'secret']], 400, 'privacyStatus'],
    ['a bad time', [title, video(), ['publishAt', 'tomorrow']], 400, 'publishAt'],
    [
      'a time of publication for a public video',
      [title, video(), ['publishAt', '2027-01-01T00:00:00Z'], ['privacyStatus', 'public']],
      400,
      'publishAt',
    ],
    ['a bad flag', [title, video(), ['madeForKids', 'perhaps']], 400, 'madeForKids'],
    ['an empty thumbnail', [title, video(), thumbnail(Buffer.alloc(0))], 400, 'thumbnail'],
    ['a video over the limit', [title, video(randomBytes(LIMITS.maxFileSize + 1))], 413, 'video'],
    [
      'a thumbnail over the limit',
      [title, video(), thumbnail(Buffer.concat([PNG, Buffer.alloc(100_000)]))],
      413,
      'thumbnail',
    ],
    ['a text over 64 kB', [title, ['description', 'x'.repeat(65_537)], video()], 413, 'description'],
    [
      'a hundred fields',
      [...Array.from({ length: 100 }, (_, n): Part => [`f${n}`, 'x']), title, video()],
      400,
      'form',
    ],
    [
      'a hundred files',
      [title, video(), ...Array.from({ length: 100 }, () => thumbnail())],
      400,
      'thumbnail',
    ],
  ])(
    '%s [C7-field-errors, C7-nothing-left, C7-category-table, C2-upload-limits, S2.6-video, S2.6-title, S2.6-category, S2.6-privacy]',
    async (_what, parts, status, param) => {
      expect(await refused(parts)).toMatchObject({
        status,
        code: status === 413 ? 'body_too_large' : 'invalid_request',
        type: 'invalid_request_error',
        param,
        target: 'main',
        hint: expect.any(String),
      });
    },
  );

  test('not being a form, or not a whole one [C7-field-errors, C7-nothing-left]', async () => {
    const json = await hub.ask('/videohost/upload', { json: { title: 'x' } });
    expect([json.status, json.json().error.code]).toEqual([415, 'unsupported_media_type']);
    const nothing = await hub.ask('/videohost/upload', { method: 'POST' });
    expect([nothing.status, nothing.json().error.param]).toEqual([400, 'video']);
    const unbounded = await hub.ask('/videohost/upload', {
      body: 'x',
      headers: { 'content-type': 'multipart/form-data; charset=x' },
    });
    expect([unbounded.status, unbounded.json().error.param]).toEqual([400, 'content-type']);
    for (const body of [
      '',
      'no part at all',
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="title"\r\n\r\nabc`,
    ]) {
      const cut = await hub.ask('/videohost/upload', {
        method: 'POST',
        body: `${body}`,
        headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      });
      expect([cut.status, cut.json().error.code]).toEqual([400, 'invalid_request']);
    }
    expect(leftovers()).toEqual([]);
  });
});

test('a title of 100 characters, a text of 64 kB and a file of just the limit pass [C7-field-errors, C2-upload-limits]', async () => {
  const answer = await hub.upload([
    ['title', '🎬'.repeat(100)],
    video(randomBytes(LIMITS.maxFileSize)),
    ['note', 'x'.repeat(65_536)],
  ]);
  expect(answer.status).toBe(200);
  expect(hub.platform.videos[0]?.bytes).toBe(LIMITS.maxFileSize);
});

test('every category of the table is known [C7-category-table, S2.6-category]', async () => {
  for (const id of [1, 2, 10, 15, 17, 19, 20, 22, 23, 24, 25, 26, 27, 28]) {
    hub.platform.videos.length = 0;
    const { video: made } = await published([title, video(), ['categoryId', String(id)]]);
    expect(made.metadata.snippet.categoryId).toBe(String(id));
  }
});

describe('before the body is read', () => {
  const head = (target: string, more = '') =>
    `POST /videohost/upload HTTP/1.1\r\nhost: ${new URL(hub.url).host}\r\nx-target: ${target}\r\nconnection: close\r\ncontent-type: multipart/form-data; boundary=${BOUNDARY}\r\n${more}\r\n`;

  test('target and token are checked [C7-before-body]', async () => {
    const length = 'content-length: 1000000000\r\nexpect: 100-continue\r\n';
    expect(await sendRaw(hub.url, head('nobody', length))).toMatch(/^HTTP\/1.1 404 /);
    await hub.ask('/videohost/auth/logout', { method: 'POST' });
    const answer = await sendRaw(hub.url, head('main', length));
    expect(answer).toMatch(/^HTTP\/1.1 401 [\s\S]*"no_authentication"/);
  });

  test('a form that is announced to be too large is refused [C7-field-errors, C2-upload-limits]', async () => {
    const length = `content-length: ${LIMITS.maxFileSize + 20 * 1024 * 1024}\r\nexpect: 100-continue\r\n`;
    const answer = await sendRaw(hub.url, head('main', length));
    expect(answer).toMatch(/^HTTP\/1.1 413 [\s\S]*"param":"video"/);
    expect(leftovers()).toEqual([]);
  });

  test('more bytes than are free on the disk are refused [C7-507, C3-insufficient-storage]', async () => {
    const length = 'content-length: 9000000000000000\r\nexpect: 100-continue\r\n';
    const answer = await sendRaw(hub.url, head('main', length));
    expect(answer).toMatch(/^HTTP\/1.1 507 [\s\S]*spoolPath[\s\S]*"insufficient_storage"/);
    expect(leftovers()).toEqual([]);
  });
});

const smallDisk = mountSmallDisk();
(smallDisk === undefined ? test.skip : test)(
  'bytes of unknown number that the disk cannot take are refused as they come [C7-507, C3-insufficient-storage, C7-nothing-left]',
  async () => {
    const small = await startVideoHub({
      platform: hub.platform,
      videohost: { upload: { spoolPath: smallDisk, chunkSize: CHUNK } },
    });
    const fits = await small.upload([title, video(Readable.from([randomBytes(1_000_000)]))]);
    expect(fits.status).toBe(200);
    hub.platform.videos.length = 0;
    const pieces = Array.from({ length: 40 }, () => randomBytes(200_000));
    const answer = await small.upload([video(Readable.from(pieces)), title]);
    expect([answer.status, answer.json().error.code]).toEqual([507, 'insufficient_storage']);
    expect(filesIn(smallDisk ?? '').filter((file) => !file.endsWith('record.json'))).toEqual([]);
    expect(hub.platform.videos).toEqual([]);
    await small.stop();
    spawnSync('umount', [smallDisk ?? '']);
  },
);

/** A disk of 4 MB, where this process may mount one. */
function mountSmallDisk(): string | undefined {
  const path = temporaryFolder();
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', path]);
  return status === 0 ? path : undefined;
}

describe('while the form is still coming', () => {
  test('sending has begun, but for the last chunk [C7-overlap]', async () => {
    const content = randomBytes(3 * CHUNK);
    const form = openForm();
    form.text('title', 'Ahead');
    form.file(content);
    await until('two chunks', () => kinds().filter((kind) => kind === 'chunk').length === 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(kinds()).toEqual(['open', 'chunk', 'chunk']);
    expect(hub.platform.requests.map(({ range }) => range)).toEqual([
      undefined,
      `bytes 0-${CHUNK - 1}/*`,
      `bytes ${CHUNK}-${2 * CHUNK - 1}/*`,
    ]);
    const answer = await form.end();
    expect(answer.status).toBe(200);
    expect(kinds()).toEqual(['open', 'chunk', 'chunk', 'chunk']);
    expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
  });

  test('a later field that changes what is published opens a new session [C7-late-metadata]', async () => {
    const content = randomBytes(3 * CHUNK + 5);
    const form = openForm();
    form.text('title', 'Late');
    form.file(content);
    await until('two chunks', () => kinds().filter((kind) => kind === 'chunk').length >= 2);
    form.text('description', 'What came late');
    expect((await form.end()).status).toBe(200);
    expect(kinds().filter((kind) => kind === 'open')).toHaveLength(2);
    expect(kinds()).toContain('cancel');
    expect(hub.platform.videos.map((one) => [one.sha256, one.metadata.snippet.description])).toEqual([
      [sha256(content), 'What came late'],
    ]);
  });

  test('an invalid field ends the session without a video [C7-late-metadata, C7-nothing-left]', async () => {
    const form = openForm();
    form.text('title', 'Wrong');
    form.file(randomBytes(3 * CHUNK));
    await until('two chunks', () => kinds().filter((kind) => kind === 'chunk').length === 2);
    form.text('categoryId', '99');
    const answer = await form.end();
    expect([answer.status, JSON.parse(answer.body).error.param]).toEqual([400, 'categoryId']);
    await until(
      'the end of the session',
      () => hub.platform.sessions.size === 0 || kinds().includes('cancel'),
    );
    expect(hub.platform.videos).toEqual([]);
    expect(leftovers()).toEqual([]);
  });

  test('a refusal of the platform ends it at once [C7-overlap, C7-quota]', async () => {
    hub.platform.faults.push({ on: 'open', do: { answer: 403, reason: 'quotaExceeded' } });
    const content = new PassThrough();
    const answer = hub.upload([title, video(content)]);
    content.write(randomBytes(2 * CHUNK));
    expect([(await answer).status, (await answer).json().error.code]).toEqual([429, 'quotaExceeded']);
    content.end();
    expect(leftovers()).toEqual([]);
  });

  test('a caller who leaves leaves nothing behind [C7-nothing-left]', async () => {
    const form = openForm();
    form.text('title', 'Gone');
    form.file(randomBytes(2 * CHUNK + 1));
    await until('a chunk', () => kinds().includes('chunk'));
    expect(leftovers().length).toBeGreaterThan(0);
    form.request.destroy();
    await until('an empty spool', () => leftovers().length === 0);
    await until('the end of the session', () => kinds().includes('cancel'));
    expect(hub.platform.videos).toEqual([]);
  });
});

test('the spool is where it is configured to be [C2-upload-spool]', async () => {
  const other = await startVideoHub({
    platform: hub.platform,
    videohost: { upload: { spoolPath: './elsewhere/in/transit' } },
  });
  const held = hub.platform.hold();
  const answer = other.upload([title, video()]);
  await until('the chunk', () => held.waiting() === 1);
  expect(other.spooled()).toEqual([]);
  held.release();
  expect((await answer).status).toBe(200);
});
