import { afterEach, expect, test } from '@jest/globals';
import { createAuthenticator } from '../../../lib/auth/authenticator.ts';
import { createClientAddresses } from '../../../lib/http/client-ip.ts';
import { createOriginRules } from '../../../lib/http/origin.ts';
import { send } from '../../helpers/http.ts';
import { closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

const origins = createOriginRules({ corsOrigins: [], addresses: createClientAddresses(false) });
const groups = [
  group({
    method: 'GET',
    path: '/v1/me',
    handler: (request, response) => void response.json(request.hub.caller),
  }),
];

test('with authentication off a caller is known by the address', async () => {
  const { url } = await serve(groups);
  expect((await send(`${url}/v1/me`)).json()).toEqual({ label: 'ip:127.0.0.1' });
});

test('with authentication on and nothing to check credentials nobody is let in', async () => {
  const authenticator = createAuthenticator({ enabled: true, origins, bindHost: '127.0.0.1' });
  const { url, records } = await serve(groups, { deps: { authenticator } });
  const without = await send(`${url}/v1/me`);
  expect([without.status, without.json().error.code]).toEqual([401, 'unauthorized']);
  for (const headers of [{ authorization: 'Bearer x' }, { cookie: 'hub.sid=x' }]) {
    const { status, json } = await send(`${url}/v1/me`, { headers });
    expect([status, json().error.code]).toEqual([503, 'identity_unavailable']);
  }
  expect(records.filter(({ type }) => type === 'error')).toHaveLength(2);
});

test('with authentication on the verifier decides alone, whatever Host and Origin say', async () => {
  const authenticator = createAuthenticator({
    enabled: true,
    origins,
    bindHost: '127.0.0.1',
    verifier: { authenticate: () => Promise.resolve({ id: 'anna', label: 'anna' }) },
  });
  const { url } = await serve(groups, { deps: { authenticator } });
  const headers = { host: 'hub.example', origin: 'https://other.example' };
  expect((await send(`${url}/v1/me`, { headers })).json()).toEqual({ id: 'anna', label: 'anna' });
});
