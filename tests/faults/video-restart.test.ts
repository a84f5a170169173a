import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { until } from '../helpers/until.ts';
import { sha256, startVideoHub, thumbnail, title, type VideoHub, video } from '../helpers/video.ts';

const CHUNK = 256 * 1024;
const upload = { chunkSize: CHUNK, retryFor: 5000 };
/** Kills of an upload at random moments; the whole of it: `VIDEO_KILLS=20 VIDEO_BYTES=2147483648`. */
const KILLS = Number(process.env.VIDEO_KILLS ?? 5);
const BYTES = Number(process.env.VIDEO_BYTES ?? 40 * 1024 * 1024);

function leftovers(hub: VideoHub): string[] {
  return hub.spooled().filter((file) => !file.endsWith('record.json') && !file.startsWith('.keys'));
}

async function state(hub: VideoHub, uploadId: string) {
  return (await hub.ask(`/videohost/uploads/${uploadId}`)).json();
}

function done(hub: VideoHub, uploadId: string) {
  return until(
    'the end of the upload',
    async () => {
      const view = await state(hub, uploadId);
      return view.state !== 'sending' && view;
    },
    { timeoutMs: 20_000 },
  );
}

describe('a hub that is killed', () => {
  test('while it sends goes on at its next start, from the last byte that was acknowledged [C7-resume-after-kill, C7-lease]', async () => {
    const hub = await startVideoHub({ videohost: { upload } });
    const content = randomBytes(5 * CHUNK + 99);
    hub.platform.faults.push({ on: 'chunk', after: 3, do: 'silence' });
    const answer = await hub.upload([title, video(content), thumbnail()], { prefer: 'respond-async' });
    const { uploadId } = answer.json();
    await until('the fourth chunk', () => hub.platform.requests.length === 5);
    const again = await hub.restart('SIGKILL');
    const view = await done(again, uploadId);
    expect(view).toMatchObject({
      state: 'done',
      bytesAcknowledged: content.length,
      result: { videoId: hub.platform.videos[0]?.id, thumbnailUploaded: true },
    });
    expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
    expect(hub.platform.requests.map(({ kind }) => kind).filter((kind) => kind === 'open')).toHaveLength(1);
    const resumed = hub.platform.requests.slice(5).map(({ kind, range }) => `${kind} ${range}`);
    expect(resumed[0]).toBe(`query bytes */${content.length}`);
    expect(resumed[1]).toBe(`chunk bytes ${3 * CHUNK}-${4 * CHUNK - 1}/${content.length}`);
    expect(leftovers(again)).toEqual([]);
  });

  test('after the last byte, before its answer, makes no second video [C7-resume-after-kill]', async () => {
    const hub = await startVideoHub({ videohost: { upload } });
    const content = randomBytes(CHUNK + 1);
    const held = hub.platform.hold();
    const answer = await hub.upload([title, video(content)], { prefer: 'respond-async' });
    await until('the first chunk', () => held.waiting() === 1);
    held.release();
    const last = hub.platform.hold();
    await until('the last chunk', () => last.waiting() === 1);
    await hub.stop('SIGKILL');
    last.release();
    await until('the video', () => hub.platform.videos.length === 1);
    const again = await hub.restart();
    expect(await done(again, answer.json().uploadId)).toMatchObject({
      state: 'done',
      result: { videoId: hub.platform.videos[0]?.id },
    });
    expect(hub.platform.videos).toHaveLength(1);
  });

  test('with a caller waiting gives him the result under his key later [C7-resume-after-kill, C7-idempotency]', async () => {
    const hub = await startVideoHub({ videohost: { upload } });
    const headers = { 'idempotency-key': 'my-key' };
    const form = [title, video(randomBytes(1000))];
    hub.platform.faults.push({ on: 'chunk', do: 'silence' });
    const call = hub.upload(form, headers).catch(() => 'cut off');
    await until('the chunk', () => hub.platform.requests.length === 2);
    const again = await hub.restart('SIGKILL');
    expect(await call).toBe('cut off');
    const repeated = await again.upload(form, headers);
    expect([repeated.status, repeated.json().videoId]).toEqual([200, hub.platform.videos[0]?.id]);
    expect(hub.platform.videos).toHaveLength(1);
  });

  test('while it receives leaves nothing after its next start [C7-lease, C7-nothing-left]', async () => {
    const hub = await startVideoHub({ videohost: { upload } });
    const flowing = new PassThrough();
    const call = hub.upload([title, video(flowing)]).catch(() => 'cut off');
    flowing.write(randomBytes(2 * CHUNK + 1));
    await until('a chunk', () => hub.platform.requests.length >= 2);
    expect(leftovers(hub).length).toBeGreaterThan(0);
    const again = await hub.restart('SIGKILL');
    flowing.end();
    expect(await call).toBe('cut off');
    expect(again.spooled()).toEqual([]);
    expect(hub.platform.videos).toEqual([]);
  });

  test(
    `at ${KILLS} random moments of ${BYTES} bytes publishes each video once, identical [C7-resume-after-kill]`,
    async () => {
      let hub = await startVideoHub({ videohost: { upload: { ...upload, chunkSize: 1024 * 1024 } } });
      // Random enough to show a byte out of place, cheap enough for gigabytes.
      const block = randomBytes(1024 * 1024 + 13);
      for (let round = 0; round < KILLS; round += 1) {
        hub.platform.videos.length = 0;
        const { createHash } = await import('node:crypto');
        const hash = createHash('sha256');
        const content = async function* () {
          for (let left = BYTES; left > 0; left -= block.length) {
            const piece = block.subarray(0, Math.min(block.length, left));
            hash.update(piece);
            yield piece;
          }
        };
        const { Readable } = await import('node:stream');
        const answer = await hub.upload([title, video(Readable.from(content()))], {
          prefer: 'respond-async',
        });
        const { uploadId } = answer.json();
        await sleep(Math.random() * (BYTES / (1024 * 1024)) * 4);
        hub = await hub.restart('SIGKILL');
        expect(await done(hub, uploadId)).toMatchObject({ state: 'done' });
        expect(hub.platform.videos.map((one) => [one.bytes, one.sha256])).toEqual([
          [BYTES, hash.digest('hex')],
        ]);
        expect(leftovers(hub)).toEqual([]);
      }
    },
    60_000 + KILLS * (10_000 + BYTES / 10_000),
  );
});

test('a hub that is stopped in the middle of an upload goes on with it at its next start [C7-resume-after-kill, C1-drain-finish]', async () => {
  const hub = await startVideoHub({ videohost: { upload }, config: { hub: { shutdownTimeout: 500 } } });
  const content = randomBytes(4 * CHUNK);
  hub.platform.faults.push({ on: 'chunk', after: 1, do: 'silence' });
  const call = hub.upload([title, video(content)]).catch(() => 'cut off');
  await until('the second chunk', () => hub.platform.requests.length === 3);
  const again = await hub.restart('SIGTERM');
  await call;
  await until('the video', () => hub.platform.videos.length === 1, { timeoutMs: 10_000 });
  expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
  await until('an empty spool', () => leftovers(again).length === 0);
});

describe('a start', () => {
  test('leaves uploads of other accounts and of living hubs alone [C7-lease]', async () => {
    // Its first hub has the patience to wait for as long as the second takes to start.
    const hub = await startVideoHub({ videohost: { upload: { ...upload, retryFor: 300_000 } } });
    hub.platform.faults.push({ on: 'chunk', do: 'silence' });
    const { uploadId } = (await hub.upload([title, video()], { prefer: 'respond-async' })).json();
    await until('the chunk', () => hub.platform.requests.length === 2);
    const foreign = join(hub.cwd, 'spool', 'f'.repeat(32));
    mkdirSync(foreign);
    const record = {
      uploadId: 'f'.repeat(32),
      target: 'elsewhere',
      state: 'sending',
      extras: {},
      warnings: [],
    };
    writeFileSync(join(foreign, 'record.json'), JSON.stringify(record));
    writeFileSync(join(foreign, 'video'), 'abc');

    const second = await startVideoHub({ platform: hub.platform, cwd: hub.cwd, videohost: { upload } });
    await sleep(300);
    // The first one still sends: nobody has asked for it but itself.
    expect(hub.platform.requests.map(({ kind }) => kind)).toEqual(['open', 'chunk']);
    expect((await state(second, uploadId)).state).toBe('sending');
    expect(readdirSync(foreign).sort()).toEqual(['record.json', 'video']);
    expect((await second.ask(`/videohost/uploads/${'f'.repeat(32)}`)).status).toBe(404);
  });

  test('takes an upload over from a hub elsewhere whose signs of life have ended, not before [C7-lease]', async () => {
    const hub = await startVideoHub({ videohost: { upload } });
    hub.platform.faults.push({ on: 'chunk', do: 'silence' });
    const content = randomBytes(1000);
    const { uploadId } = (await hub.upload([title, video(content)], { prefer: 'respond-async' })).json();
    await until('the chunk', () => hub.platform.requests.length === 2);
    await hub.stop('SIGKILL');
    const lease = join(hub.cwd, 'spool', uploadId, 'lease.1');
    expect(existsSync(lease)).toBe(true);
    // As it would stand there from a hub on another machine, where nobody can see whether it lives.
    writeFileSync(lease, JSON.stringify({ place: 'another machine', pid: 1, startedAt: '1' }));
    const early = await startVideoHub({ platform: hub.platform, cwd: hub.cwd, videohost: { upload } });
    await sleep(300);
    expect(hub.platform.videos).toEqual([]);
    await early.stop();
    const past = new Date(Date.now() - 31_000);
    utimesSync(lease, past, past);
    const late = await startVideoHub({ platform: hub.platform, cwd: hub.cwd, videohost: { upload } });
    expect(await done(late, uploadId)).toMatchObject({ state: 'done' });
    expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
  });

  test('forgets what ended more than a day ago [C7-own-uploads]', async () => {
    const hub = await startVideoHub({ videohost: { upload } });
    const record = (id: string, hours: number) => {
      const directory = join(hub.cwd, 'spool', id);
      mkdirSync(directory);
      const endedAt = new Date(Date.now() - hours * 3_600_000).toISOString();
      writeFileSync(
        join(directory, 'record.json'),
        JSON.stringify({ uploadId: id, target: 'main', state: 'done', startedAt: endedAt, endedAt }),
      );
    };
    record('a'.repeat(32), 23);
    record('b'.repeat(32), 25);
    const again = await hub.restart();
    const { uploads } = (await again.ask('/videohost/uploads')).json();
    expect(uploads.map((one: { uploadId: string }) => one.uploadId)).toEqual(['a'.repeat(32)]);
  });
});
