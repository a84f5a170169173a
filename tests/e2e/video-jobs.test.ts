import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { until } from '../helpers/until.ts';
import {
  ACCOUNT,
  authorize,
  forgetUploads,
  type Part,
  sendForm,
  sha256,
  startPlatform,
  startVideoHub,
  thumbnail,
  title,
  type VideoHub,
  video,
} from '../helpers/video.ts';

const CHUNK = 256 * 1024;
const async = { prefer: 'respond-async' };

let hub: VideoHub;
beforeAll(async () => {
  hub = await startVideoHub({ videohost: { upload: { chunkSize: CHUNK, retryFor: 2000 } } });
});
beforeEach(() => forgetUploads(hub));

async function view(uploadId: string, at: VideoHub = hub) {
  const answer = await at.ask(`/videohost/uploads/${uploadId}`);
  expect(answer.status).toBe(200);
  return answer.json();
}

async function ended(uploadId: string, at: VideoHub = hub) {
  return until(
    'the end of the upload',
    async () => {
      const upload = await view(uploadId, at);
      return !['receiving', 'sending'].includes(upload.state) && upload;
    },
    { timeoutMs: 15_000 },
  );
}

function leftovers(): string[] {
  return hub.spooled().filter((file) => !file.endsWith('record.json') && !file.startsWith('.keys'));
}

describe('an upload', () => {
  test('can be watched from its first byte to its result [C7-job, C7-jobs]', async () => {
    const content = randomBytes(3 * CHUNK);
    const flowing = new PassThrough();
    const answer = hub.upload([title, video(flowing)]);
    flowing.write(content.subarray(0, CHUNK + 1));
    const receiving = await until('the bytes', async () => {
      const { uploads } = (await hub.ask('/videohost/uploads')).json();
      return uploads.find(
        (one: { state: string; bytesAcknowledged: number }) =>
          one.state === 'receiving' && one.bytesAcknowledged === CHUNK,
      );
    });
    expect(receiving).toEqual({
      uploadId: expect.stringMatching(/^[0-9a-f]{32}$/),
      target: 'main',
      state: 'receiving',
      bytesReceived: CHUNK + 1,
      bytesAcknowledged: CHUNK,
      bytesTotal: null,
      startedAt: expect.any(String),
    });
    const held = hub.platform.hold();
    flowing.end(content.subarray(CHUNK + 1));
    const sending = await until('sending', async () => {
      const upload = await view(receiving.uploadId);
      return upload.state === 'sending' && upload;
    });
    expect(sending).toMatchObject({ bytesReceived: content.length, bytesTotal: content.length });
    held.release();
    const result = (await answer).json();
    expect(result.uploadId).toBe(receiving.uploadId);
    expect(await view(result.uploadId)).toEqual({
      ...receiving,
      state: 'done',
      bytesReceived: content.length,
      bytesAcknowledged: content.length,
      bytesTotal: content.length,
      result,
    });
  });

  test('that failed says so [C7-job]', async () => {
    hub.platform.faults.push({ on: 'open', do: { answer: 403, reason: 'quotaExceeded' } });
    const { uploadId } = (await hub.upload([title, video()], async)).json();
    expect(await ended(uploadId)).toMatchObject({
      state: 'failed',
      error: { code: 'quotaExceeded', message: 'quotaExceeded', reason: 'quotaExceeded', target: 'main' },
    });
    expect(leftovers()).toEqual([]);
  });

  test('is unknown by another id [C7-job]', async () => {
    for (const id of ['0'.repeat(32), 'x', '..%2f..%2fetc', 'record.json']) {
      for (const method of ['GET', 'DELETE']) {
        const answer = await hub.ask(`/videohost/uploads/${id}`, { method });
        expect([answer.status, answer.json().error.code]).toEqual([404, 'upload_not_found']);
      }
    }
  });

  test('can be cancelled while it is sent [C7-job-cancel]', async () => {
    const held = hub.platform.hold();
    const { uploadId } = (await hub.upload([title, video(randomBytes(3 * CHUNK))], async)).json();
    await until('the chunk', () => held.waiting() === 1);
    const answer = await hub.ask(`/videohost/uploads/${uploadId}`, { method: 'DELETE' });
    expect([answer.status, answer.json()]).toEqual([
      200,
      expect.objectContaining({ uploadId, state: 'cancelled' }),
    ]);
    held.release();
    expect(hub.platform.requests.map(({ kind }) => kind)).toContain('cancel');
    expect(hub.platform.videos).toEqual([]);
    expect(leftovers()).toEqual([]);
    expect((await view(uploadId)).state).toBe('cancelled');
    expect((await hub.ask(`/videohost/uploads/${uploadId}`, { method: 'DELETE' })).status).toBe(200);
  });

  test('can be cancelled while it comes; its caller is told [C7-job-cancel, C7-nothing-left]', async () => {
    const flowing = new PassThrough();
    const answer = hub.upload([title, video(flowing)]);
    flowing.write(randomBytes(1000));
    const { uploadId } = await until('the upload', async () => {
      const { uploads } = (await hub.ask('/videohost/uploads')).json();
      return uploads.find(({ state }: { state: string }) => state === 'receiving');
    });
    const cancelled = await hub.ask(`/videohost/uploads/${uploadId}`, { method: 'DELETE' });
    expect([cancelled.status, cancelled.json().state]).toEqual([200, 'cancelled']);
    const told = await answer;
    expect([told.status, told.json().error.reason]).toEqual([409, 'cancelled']);
    flowing.end();
    expect(leftovers()).toEqual([]);
  });

  test('that is cancelled too late is published, and says so [C7-job-cancel]', async () => {
    const held = hub.platform.hold();
    const { uploadId } = (await hub.upload([title, video()], async)).json();
    await until('the last chunk', () => held.waiting() === 1);
    const answer = hub.ask(`/videohost/uploads/${uploadId}`, { method: 'DELETE' });
    await until('the question', () => hub.platform.requests.length > 2);
    held.release();
    expect([(await answer).status, (await answer).json().error.reason]).toEqual([409, 'already_ended']);
    expect(await view(uploadId)).toMatchObject({
      state: 'done',
      result: { videoId: hub.platform.videos[0]?.id },
    });
    expect(hub.platform.videos).toHaveLength(1);
  });
});

test('Prefer: respond-async is answered once the form is received [C7-respond-async]', async () => {
  const held = hub.platform.hold();
  const content = randomBytes(1000);
  const answer = await hub.upload([title, video(content), thumbnail()], { prefer: 'wait=5, respond-async' });
  const { uploadId, statusUrl, ...rest } = answer.json();
  expect([answer.status, rest]).toEqual([202, {}]);
  expect(statusUrl).toBe(`/videohost/uploads/${uploadId}`);
  expect(answer.headers).toMatchObject({ location: statusUrl, 'preference-applied': 'respond-async' });
  expect(await view(uploadId)).toMatchObject({ state: 'sending', bytesTotal: 1000, bytesAcknowledged: 0 });
  held.release();
  expect(await ended(uploadId)).toMatchObject({
    state: 'done',
    result: { success: true, videoId: hub.platform.videos[0]?.id, thumbnailUploaded: true },
  });
  // A form that is wrong is refused all the same.
  expect((await hub.upload([title], async)).status).toBe(400);
});

test('a caller who leaves after his last byte finds the result later [C7-jobs]', async () => {
  const held = hub.platform.hold();
  const leaving = new AbortController();
  const chunks: Buffer[] = [];
  const { formBytes, BOUNDARY } = await import('../helpers/video.ts');
  for await (const chunk of formBytes([['title', 'Left alone'], video()])) chunks.push(chunk);
  const call = hub.ask('/videohost/upload', {
    method: 'POST',
    body: Buffer.concat(chunks),
    headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    signal: leaving.signal,
  });
  await until('the chunk', () => held.waiting() === 1);
  leaving.abort();
  await expect(call).rejects.toThrow();
  held.release();
  await until('the video', () => hub.platform.videos.length === 1);
  const { uploads } = (await hub.ask('/videohost/uploads')).json();
  expect(await ended(uploads[0].uploadId)).toMatchObject({ state: 'done' });
});

describe('under an Idempotency-Key', () => {
  const key = () => ({ 'idempotency-key': randomBytes(8).toString('hex') });

  test('a repetition gives the first result and makes no second video, across a restart too [C7-idempotency]', async () => {
    const headers = key();
    const form: Part[] = [title, video(randomBytes(2 * CHUNK)), thumbnail()];
    const first = await hub.upload(form, headers);
    expect(first.status).toBe(200);
    // The order of the parts does not make another form.
    const again = await hub.upload([...form].reverse(), headers);
    expect([again.status, again.json()]).toEqual([200, first.json()]);
    expect((await hub.upload(form, { ...headers, ...async })).json()).toEqual(first.json());
    hub = await hub.restart();
    const later = await hub.upload(form, headers);
    expect([later.status, later.json()]).toEqual([200, first.json()]);
    expect(hub.platform.videos).toHaveLength(1);
    expect(leftovers()).toEqual([]);
    const { uploads } = (await hub.ask('/videohost/uploads')).json();
    expect(uploads.filter(({ state }: { state: string }) => state === 'receiving')).toEqual([]);
  });

  test('a repetition waits for the first one that is still running [C7-idempotency]', async () => {
    const headers = key();
    const form: Part[] = [title, video()];
    const held = hub.platform.hold();
    const first = hub.upload(form, headers);
    await until('the chunk', () => held.waiting() === 1);
    const second = hub.upload(form, headers);
    const accepted = await hub.upload(form, { ...headers, ...async });
    expect(accepted.status).toBe(202);
    held.release();
    const results = [(await first).json(), (await second).json()];
    expect(results[1]).toEqual(results[0]);
    expect(accepted.json().uploadId).toBe(results[0].uploadId);
    expect(hub.platform.videos).toHaveLength(1);
  });

  test('of many at once one makes the video [C7-idempotency]', async () => {
    const headers = key();
    const form: Part[] = [title, video(randomBytes(CHUNK))];
    const answers = await Promise.all(Array.from({ length: 8 }, () => hub.upload(form, headers)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(hub.platform.videos).toHaveLength(1);
  });

  test('a failure is not remembered, and whoever waits for it goes on himself [C7-idempotency-failures]', async () => {
    const headers = key();
    const form: Part[] = [title, video()];
    hub.platform.faults.push({ on: 'open', do: { answer: 403, reason: 'quotaExceeded' } });
    expect((await hub.upload(form, headers)).status).toBe(429);
    expect((await hub.upload([title], headers)).status).toBe(400);
    expect((await hub.upload(form, headers)).status).toBe(200);
    expect(hub.platform.videos).toHaveLength(1);

    const other = key();
    hub.platform.faults.push({ on: 'chunk', do: { answer: 403, reason: 'forbidden' } });
    const held = hub.platform.hold();
    hub.platform.faults.push({ on: 'query', do: { answer: 503 } });
    const both = Promise.all([hub.upload(form, other), hub.upload(form, other)]);
    held.release();
    expect((await both).map(({ status }) => status).sort()).toEqual([200, 403]);
    expect(hub.platform.videos).toHaveLength(2);
  });

  test('another form is 422: another field, another file, another thumbnail [C7-idempotency-other-body]', async () => {
    const headers = key();
    const content = randomBytes(1000);
    expect((await hub.upload([title, video(content)], headers)).status).toBe(200);
    for (const form of [
      [['title', 'Another'], video(content)],
      [title, video(randomBytes(1000))],
      [title, video(content), thumbnail()],
      [title, ['description', 'x'], video(content)],
    ] as Part[][]) {
      const answer = await hub.upload(form, headers);
      expect([answer.status, answer.json().error]).toEqual([
        422,
        expect.objectContaining({ code: 'idempotency_mismatch', target: 'main' }),
      ]);
    }
    expect(hub.platform.videos).toHaveLength(1);
    expect(leftovers()).toEqual([]);
  });

  test('that is none is 400 [C7-idempotency]', async () => {
    for (const bad of ['', 'x'.repeat(256), 'a b']) {
      const answer = await hub.upload([title, video()], { 'idempotency-key': bad });
      expect([answer.status, answer.json().error.param]).toEqual([400, 'idempotency-key']);
    }
  });
});

describe('with main authentication', () => {
  const digest = (token: string) => createHash('sha256').update(token).digest('hex');
  const bearer = (who: string) => ({ authorization: `Bearer ${who}-key-0123456789` });
  let guarded: VideoHub;
  beforeAll(async () => {
    const platform = await startPlatform();
    const account = (id: string) => ({
      ...ACCOUNT,
      id,
      redirect_uri: `http://localhost/videohost/auth/idp/callback?target=${id}`,
    });
    guarded = await startVideoHub({
      platform,
      videohost: { accounts: [account('main'), account('second')] },
      config: {
        hub: { host: '127.0.0.1' },
        auth: {
          enabled: true,
          type: 'apiKey',
          apiKeys: ['anna', 'ben'].map((id) => ({ id, sha256: digest(`${id}-key-0123456789`) })),
          session: { cookie: { secret: 'a-session-secret-of-enough-characters' } },
        },
      },
    });
    authorize(platform, join(guarded.cwd, 'tokens/videohost_token_second.json'));
  });

  test('a caller sees and cancels only his own uploads, and needs credentials for all of it [C7-own-uploads, C7-before-body]', async () => {
    const answer = await sendForm(guarded.url, [title, video()], bearer('anna'));
    expect(answer.status).toBe(200);
    const { uploadId } = answer.json();
    const path = `${guarded.url}/videohost/uploads`;
    const list = async (who: string) => (await send(path, { headers: bearer(who) })).json().uploads;
    expect((await list('anna')).map((one: { uploadId: string }) => one.uploadId)).toEqual([uploadId]);
    expect(await list('ben')).toEqual([]);
    expect((await send(`${path}/${uploadId}`, { headers: bearer('anna') })).status).toBe(200);
    for (const method of ['GET', 'DELETE']) {
      const foreign = await send(`${path}/${uploadId}`, { method, headers: bearer('ben') });
      expect([foreign.status, foreign.json().error.code]).toEqual([404, 'upload_not_found']);
      expect((await send(`${path}/${uploadId}`, { method })).status).toBe(401);
    }
    expect((await sendForm(guarded.url, [title, video()])).status).toBe(401);
    expect((await send(`${guarded.url}/videohost/auth/idp`)).status).toBe(401);
    // The callback is for the person whom the identity provider sends back.
    const callback = await send(`${guarded.url}/videohost/auth/idp/callback?target=main&error=access_denied`);
    expect(callback.status).toBe(400);
  });

  test('a key is good for one account and caller [C7-idempotency]', async () => {
    const headers = (who: string) => ({ ...bearer(who), 'idempotency-key': 'one-and-the-same' });
    const form: Part[] = [title, video()];
    const before = guarded.platform.videos.length;
    const answers = [
      await sendForm(guarded.url, form, headers('anna')),
      await sendForm(guarded.url, form, headers('ben')),
      await sendForm(guarded.url, form, { ...headers('anna'), 'x-target': 'second' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(guarded.platform.videos).toHaveLength(before + 3);
    expect(sha256(form[1] && 'content' in form[1] ? (form[1].content as Buffer) : Buffer.alloc(0))).toBe(
      guarded.platform.videos.at(-1)?.sha256,
    );
  });
});
