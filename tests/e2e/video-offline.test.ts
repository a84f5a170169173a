import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { sha256, startVideoHub, thumbnail, title, video } from '../helpers/video.ts';

test('the handler authorizes and uploads as the gateway does, but answers nothing before its work is done [C11-respond-async, S4.2-upload, S4.2-callback]', async () => {
  const hub = await startVideoHub({ command: 'offline', isUnauthorized: true });
  const { authUrl } = (await hub.ask('/videohost/auth/idp')).json();
  const { pathname, search } = new URL((await send(authUrl)).headers.location ?? '');
  const callback = await send(hub.url + pathname + search, { headers: { accept: 'application/json' } });
  expect([callback.status, callback.json()]).toEqual([200, { success: true, target: 'main' }]);
  const content = randomBytes(2_000_000);
  const answer = await hub.upload([video(content), title, thumbnail()], { prefer: 'respond-async' });
  expect([answer.status, answer.json()]).toEqual([
    200,
    expect.objectContaining({ success: true, videoId: hub.platform.videos[0]?.id, thumbnailUploaded: true }),
  ]);
  expect(answer.headers['preference-applied']).toBeUndefined();
  expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
  const bad = await hub.upload([title]);
  expect([bad.status, bad.json().error]).toEqual([400, expect.objectContaining({ param: 'video' })]);
}, 90_000);
