import { expect, test } from '@jest/globals';
import { startForwardProxy } from '../helpers/forward-proxy.ts';
import { startIdentityApi } from '../helpers/identity-api.ts';
import { startVideoHub, title, video } from '../helpers/video.ts';

const bearer = { authorization: 'Bearer token-of-somebody' };

/** Uploads a video and signs its account out, as somebody whom the identity API has to vouch for. */
async function goOut(env: Record<string, string>) {
  const identity = await startIdentityApi();
  const hub = await startVideoHub({
    env,
    config: {
      auth: {
        enabled: true,
        type: 'edapi',
        edapi_url: identity.url,
        session: { store: 'memory', cookie: { secret: 'session-secret-0123456789-abcdefghijkl' } },
      },
    },
  });
  const uploaded = await hub.upload([title, video()], bearer);
  expect([uploaded.status, uploaded.json()]).toMatchObject([200, { success: true }]);
  const left = await hub.ask('/videohost/auth/logout', { method: 'POST', headers: bearer });
  expect(left.json()).toMatchObject({ success: true });
  expect(identity.calls).not.toHaveLength(0);
  expect(hub.platform.videos).toHaveLength(1);
  return { identity: identity.url, platform: hub.platform.url };
}

test('the identity API and the video platform are asked by way of the forward proxy', async () => {
  const proxy = await startForwardProxy();
  const { identity, platform } = await goOut({ HTTP_PROXY: `http://user:pass@${proxy.host}` });
  const credentials = `Basic ${Buffer.from('user:pass').toString('base64')}`;
  expect(proxy.seen.filter((one) => one.credentials !== credentials)).toEqual([]);
  const asked = proxy.seen.map(({ method, address }) => `${method} ${address.split('?')[0]}`);
  expect(asked).toEqual(
    expect.arrayContaining([
      `GET ${identity.split('?')[0]}`,
      expect.stringMatching(`^POST ${platform}/upload/`),
      expect.stringMatching(`^PUT ${platform}/`),
      expect.stringMatching(`^POST ${platform}/.*revoke`),
    ]),
  );
});

test('NO_PROXY keeps them from it', async () => {
  const proxy = await startForwardProxy();
  await goOut({ HTTP_PROXY: `http://${proxy.host}`, NO_PROXY: '127.0.0.1' });
  expect(proxy.seen).toEqual([]);
});
