import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { FAKE_S3_ENV as env, startFakeS3 } from '../helpers/fake-s3.ts';
import { send } from '../helpers/http.ts';
import { until } from '../helpers/until.ts';
import { sha256, startVideoHub, title, tokensIn, video } from '../helpers/video.ts';

test.each(['hub', 'offline'] as const)(
  'a video past the body limit goes by way of the staging bucket (%s) [C2-staging, C7-nothing-left]',
  async (command) => {
    const s3 = await startFakeS3();
    const staging = { bucket: 'stage', prefix: 'p/', region: 'eu-test-1', endpoint: s3.endpoint };
    const hub = await startVideoHub({
      command,
      env,
      videohost: { staging, upload: { maxFileSize: 20_000_000 } },
    });
    const stage = async (bytes: Buffer) => {
      const answer = await hub.ask('/videohost/staging', { method: 'POST' });
      expect([answer.status, answer.json()]).toEqual([
        201,
        {
          stagingId: expect.stringMatching(/^[0-9a-f]{32}$/),
          uploadUrl: expect.stringMatching(/X-Amz-Signature=[0-9a-f]{64}/),
          method: 'PUT',
          expiresAt: expect.any(String),
        },
      ]);
      const { uploadUrl, stagingId } = answer.json();
      expect((await send(uploadUrl, { method: 'PUT', body: bytes })).status).toBe(200);
      return stagingId;
    };

    // More than a serverless platform takes as a body.
    const content = randomBytes(12_000_000);
    const stagingId = await stage(content);
    const { uploadUrl } = (await hub.ask('/videohost/staging', { method: 'POST' })).json();
    const forged = uploadUrl.replace(/staged\/[0-9a-f]+/, `staged/${'0'.repeat(16)}`);
    expect((await send(forged, { method: 'PUT', body: 'x' })).status).toBe(403);
    const answer = await hub.upload([['staged', stagingId], title]);
    expect([answer.status, answer.json()]).toEqual([
      200,
      expect.objectContaining({ success: true, videoId: hub.platform.videos[0]?.id }),
    ]);
    expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
    await until('the end of the staged object', () => s3.objects.size === 0);

    for (const [parts, status] of [
      [[['staged', 'f'.repeat(32)], title], 400],
      [[['staged', '../../etc'], title], 400],
      [[['staged', await stage(randomBytes(10))], title, video()], 400],
      [[['staged', await stage(Buffer.alloc(0))], title], 400],
    ] as const) {
      const refused = await hub.upload([...parts] as Parameters<typeof hub.upload>[0]);
      expect([refused.status, refused.json().error.code]).toEqual([status, 'invalid_request']);
    }
    const large = await hub.upload([['staged', await stage(randomBytes(20_000_001))], title]);
    expect([large.status, large.json().error.param]).toEqual([413, 'video']);
    expect(hub.platform.videos).toHaveLength(1);
    expect(hub.spooled().filter((file) => !file.endsWith('record.json'))).toEqual([]);
  },
  90_000,
);

test('tokens may live in S3, under any copy of the hub [C2-token-store-s3, S2.4-survives-restart]', async () => {
  const s3 = await startFakeS3();
  const token_store = {
    type: 's3',
    bucket: 'tokens',
    prefix: 'hub/',
    region: 'eu-test-1',
    endpoint: s3.endpoint,
  };
  const hub = await startVideoHub({ env, isUnauthorized: true, videohost: { token_store } });
  const { authUrl } = (await hub.ask('/videohost/auth/idp')).json();
  const { pathname, search } = new URL((await send(authUrl)).headers.location ?? '');
  const second = await startVideoHub({
    env,
    isUnauthorized: true,
    platform: hub.platform,
    videohost: { token_store },
  });
  expect((await send(second.url + pathname + search)).status).toBe(200);
  expect((await send(hub.url + pathname + search)).status).toBe(400);
  expect((await hub.upload([title, video()])).status).toBe(200);
  expect(JSON.parse(String(s3.objects.get('tokens/hub/videohost_token_main.json'))).refresh_token).toMatch(
    /^refresh-/,
  );
  expect(() => tokensIn(hub.tokenFile)).toThrow();
  const logout = await second.ask('/videohost/auth/logout', { method: 'POST' });
  expect(logout.json().success).toBe(true);
  expect((await hub.ask('/videohost/auth/status')).json().authenticated).toBe(false);
});
