import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, send } from '../helpers/http.ts';
import { runHubProcess } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';
import {
  ACCOUNT,
  authorize,
  SCOPES,
  startPlatform,
  startVideoHub,
  title,
  tokensIn,
  type VideoHub,
  video,
} from '../helpers/video.ts';

/** Asks a hub for the authorization address and goes there; gives the redirect that the browser would follow. */
async function consent(hub: VideoHub): Promise<URL> {
  const { authUrl } = (await hub.ask('/videohost/auth/idp')).json();
  const answer = await send(authUrl);
  expect([answer.status, answer.text]).toEqual([302, '']);
  return new URL(answer.headers.location ?? '');
}

/** Follows a redirect to this hub, as the identity provider's registered address would lead there. */
function follow(hub: VideoHub, redirect: URL, accept = 'application/json'): Promise<Answer> {
  return send(`${hub.url}${redirect.pathname}${redirect.search}`, { headers: { accept } });
}

async function isAuthenticated(hub: VideoHub): Promise<boolean> {
  return (await hub.ask('/videohost/auth/status')).json().authenticated;
}

function errorOf(answer: Answer) {
  const { error } = answer.json();
  expect(error).toMatchObject({
    message: expect.any(String),
    type: expect.any(String),
    code: expect.any(String),
    target: ACCOUNT.id,
    reason: expect.stringMatching(/./),
    hint: expect.stringMatching(/./),
  });
  return error;
}

describe('an account', () => {
  let hub: VideoHub;
  beforeAll(async () => {
    hub = await startVideoHub({ isUnauthorized: true });
  });
  beforeEach(async () => {
    Object.assign(hub.platform.identity, {
      granted: undefined,
      consentError: undefined,
      rotatesRefreshTokens: false,
      givesRefreshTokens: true,
      redirectUris: undefined,
      lifetime: 3600,
      tokenFaults: [],
      revokeFaults: [],
    });
    await hub.ask('/videohost/auth/logout', { method: 'POST' });
    Object.assign(hub.platform.identity.calls, { exchange: 0, refresh: 0, revoke: 0 });
  });

  test('is authorized at an address with PKCE, offline access, consent and both scopes, which changes nothing [S3-auth-url, S4.2-auth-url, C7-pkce, S2.4-scopes, S2.4-redirect-uri, C2-video-endpoints]', async () => {
    const answer = await hub.ask('/videohost/auth/idp');
    expect([answer.status, Object.keys(answer.json())]).toEqual([200, ['authUrl']]);
    const url = new URL(answer.json().authUrl);
    expect(url.origin + url.pathname).toBe(`${hub.platform.url}/o/oauth2/v2/auth`);
    const { state, code_challenge: challenge, ...query } = Object.fromEntries(url.searchParams);
    expect(query).toEqual({
      response_type: 'code',
      client_id: ACCOUNT.client_id,
      redirect_uri: 'http://127.0.0.1:3000/videohost/auth/idp/callback?target=main',
      scope: `${SCOPES.upload} ${SCOPES.full}`,
      access_type: 'offline',
      prompt: 'consent select_account',
      code_challenge_method: 'S256',
    });
    expect(challenge).toMatch(/^[\w-]{43}$/);
    expect(state).toMatch(/^[\w-]{100,}$/);
    expect(await isAuthenticated(hub)).toBe(false);
    expect(existsSync(hub.tokenFile)).toBe(false);
    const again = new URL((await hub.ask('/videohost/auth/idp')).json().authUrl);
    expect(again.searchParams.get('state')).not.toBe(state);
    expect(again.searchParams.get('code_challenge')).not.toBe(challenge);
  });

  test('is authenticated once its callback has stored the tokens in its own file, mode 0600 [S3-callback-stores, S4.2-callback, S2.5-token-file, S2.4-token-file, S2.4-token-path, C2-video-token-defaults, S3-status, S4.2-status, S5.4-oauth, S1-video-tokens]', async () => {
    const status = await hub.ask('/videohost/auth/status');
    expect([status.status, status.json()]).toEqual([200, { authenticated: false, target: 'main' }]);
    const before = Date.now();
    const answer = await follow(hub, await consent(hub));
    expect([answer.status, answer.json()]).toEqual([200, { success: true, target: 'main' }]);
    expect(await isAuthenticated(hub)).toBe(true);
    const tokens = tokensIn(hub.tokenFile);
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^access-/),
      refresh_token: expect.stringMatching(/^refresh-/),
      scope: `${SCOPES.upload} ${SCOPES.full}`,
      token_type: 'Bearer',
      expiry_date: expect.any(Number),
    });
    expect(tokens.expiry_date - before).toBeGreaterThan(3_590_000);
    expect(tokens.expiry_date - before).toBeLessThan(3_630_000);
    expect(statSync(hub.tokenFile).mode & 0o777).toBe(0o600);
    expect(statSync(join(hub.tokenFile, '..')).mode & 0o077).toBe(0);
  });

  test('shows a person a page, at success and at failure, and a program JSON [C7-callback-answer]', async () => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const redirect = await consent(hub);
    const page = await follow(hub, redirect, browser);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toMatch(/<h1>Access granted<\/h1>[\s\S]*main/);
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    const refused = await follow(hub, redirect, browser);
    expect([refused.status, refused.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect(refused.text).toMatch(/OAuth authentication failed[\s\S]*finished before/);
    const json = await follow(hub, redirect);
    expect(json.headers['content-type']).toMatch(/^application\/json/);
  });

  test('has a state that is good once, for its own account, unaltered [C7-state, C7-state-invalid, S7-oauth-failed]', async () => {
    const redirect = await consent(hub);
    const altered = new URL(redirect);
    const state = altered.searchParams.get('state') ?? '';
    altered.searchParams.set('state', `${state.slice(0, -2)}${state.endsWith('A') ? 'BB' : 'AA'}`);
    const missing = new URL(redirect);
    missing.searchParams.delete('state');
    for (const wrong of [altered, missing]) {
      const answer = await follow(hub, wrong);
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatchObject({
        code: 'oauth_failed',
        message: 'OAuth authentication failed',
        type: 'invalid_request_error',
        reason: 'invalid_state',
      });
    }
    expect(hub.platform.identity.calls.exchange).toBe(0);
    const both = await Promise.all([follow(hub, redirect), follow(hub, redirect)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await follow(hub, redirect)).json().error.reason).toBe('state_used');
    expect(hub.platform.identity.calls.exchange).toBe(1);
  });

  test('is told from others by x-target [C7-target, S2.4-id-is-target, C7-error-members]', async () => {
    const none = await send(`${hub.url}/videohost/auth/status`);
    expect([none.status, none.json().error.code]).toEqual([400, 'target_required']);
    const unknown = await hub.ask('/videohost/auth/status', { headers: { 'x-target': 'nobody' } });
    expect([unknown.status, unknown.json().error]).toEqual([
      404,
      expect.objectContaining({ code: 'account_not_found', target: 'nobody', hint: expect.any(String) }),
    ]);
    for (const path of ['/videohost/auth/idp', '/videohost/auth/logout', '/videohost/upload']) {
      const method = path.endsWith('idp') ? 'GET' : 'POST';
      expect((await send(hub.url + path, { method })).json().error.code).toBe('target_required');
    }
  });

  test('that a person refuses is 400 oauth_failed [C7-oauth-denied]', async () => {
    hub.platform.identity.consentError = 'access_denied';
    const answer = await follow(hub, await consent(hub));
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'oauth_failed', reason: 'access_denied' });
    expect(await isAuthenticated(hub)).toBe(false);
  });

  test.each([
    ['invalid_client', 401, 502, 'oauth_failed', 'OAuth authentication failed'],
    ['unauthorized_client', 400, 502, 'oauth_failed', 'OAuth authentication failed'],
    ['invalid_grant', 400, 400, 'oauth_failed', 'OAuth authentication failed'],
    ['redirect_uri_mismatch', 400, 400, 'redirect_uri_mismatch', 'redirect_uri_mismatch'],
  ])(
    'names %s of the exchange [C7-oauth-client, C7-redirect-uri, S7-redirect-uri-mismatch, S7-oauth-failed]',
    async (error, status, expected, code, message) => {
      hub.platform.identity.tokenFaults.push({ status, error });
      const answer = await follow(hub, await consent(hub));
      expect(answer.status).toBe(expected);
      const told = errorOf(answer);
      expect(told).toMatchObject({ code, message, reason: error });
      if (code === 'redirect_uri_mismatch') {
        expect(told.hint).toContain('http://127.0.0.1:3000/videohost/auth/idp/callback?target=main');
      }
      expect(existsSync(hub.tokenFile)).toBe(false);
    },
  );

  test('tries an identity provider that is down again, and then says so [C7-upstream]', async () => {
    hub.platform.identity.tokenFaults.push({ status: 503 }, { status: 500 });
    expect((await follow(hub, await consent(hub))).status).toBe(200);
    hub.platform.identity.tokenFaults.push({ status: 503 }, { status: 503 }, { status: 503 });
    const answer = await follow(hub, await consent(hub));
    expect(answer.status).toBe(502);
    expect(errorOf(answer)).toMatchObject({ code: 'upstream_unavailable', type: 'upstream_error' });
    expect(await isAuthenticated(hub)).toBe(true);
  });

  test('without the upload permission is 403 and stores nothing; the upload permission alone is enough [C7-insufficient-permissions, S7-insufficient-permissions]', async () => {
    hub.platform.identity.granted = ['https://www.googleapis.com/auth/userinfo.email'];
    const answer = await follow(hub, await consent(hub));
    expect(answer.status).toBe(403);
    expect(errorOf(answer)).toMatchObject({
      code: 'insufficient_permissions',
      message: 'Insufficient permissions',
      reason: 'missing_scopes',
    });
    expect(existsSync(hub.tokenFile)).toBe(false);
    hub.platform.identity.granted = [SCOPES.upload];
    expect((await follow(hub, await consent(hub))).status).toBe(200);
    expect((await hub.upload([title, video()])).status).toBe(200);
  });

  test('logs out: revoked there, deleted here, as often as one likes [S3-logout, S4.2-logout, C7-logout-idempotent]', async () => {
    await follow(hub, await consent(hub));
    const logout = () => hub.ask('/videohost/auth/logout', { method: 'POST' });
    const answer = await logout();
    expect([answer.status, answer.json()]).toEqual([
      200,
      { success: true, message: expect.stringMatching(/revoked and deleted/) },
    ]);
    expect(existsSync(hub.tokenFile)).toBe(false);
    expect(hub.platform.identity.calls.revoke).toBe(1);
    expect(await isAuthenticated(hub)).toBe(false);
    const again = await logout();
    expect([again.status, again.json().success]).toEqual([200, true]);
    expect(hub.platform.identity.calls.revoke).toBe(1);

    await follow(hub, await consent(hub));
    hub.platform.identity.revokeFaults.push({ status: 503 }, { status: 503 }, { status: 503 });
    const unheard = await logout();
    expect([unheard.status, unheard.json()]).toEqual([
      200,
      { success: true, message: expect.stringMatching(/could not be asked to revoke/) },
    ]);
    expect(existsSync(hub.tokenFile)).toBe(false);

    await follow(hub, await consent(hub));
    hub.platform.identity.revokeAll();
    expect((await logout()).json().message).toMatch(/revoked and deleted/);
  });

  test('refreshes an expired token by itself, keeps the refresh token that the reply left out, and logs it [S3-auto-refresh, C7-token-merge, S6-refresh-events]', async () => {
    authorize(hub.platform, hub.tokenFile, { expiresIn: -5 });
    const before = tokensIn(hub.tokenFile);
    const answer = await hub.upload([title, video()]);
    expect([answer.status, hub.platform.identity.calls.refresh]).toEqual([200, 1]);
    const after = tokensIn(hub.tokenFile);
    expect(after.access_token).not.toBe(before.access_token);
    expect(after.refresh_token).toBe(before.refresh_token);
    expect(after.expiry_date).toBeGreaterThan(Date.now() + 3_000_000);
    const refreshed = { module: 'videohost', message: 'The access token was refreshed', target: 'main' };
    await until('its record', () =>
      hub.logs().some((record) => isDeepStrictEqual({ ...record, ...refreshed }, record)),
    );
  });

  test('keeps a rotated refresh token [C7-token-merge]', async () => {
    hub.platform.identity.rotatesRefreshTokens = true;
    authorize(hub.platform, hub.tokenFile, { expiresIn: 60 });
    const before = tokensIn(hub.tokenFile);
    expect((await hub.upload([title, video()])).status).toBe(200);
    const after = tokensIn(hub.tokenFile);
    expect(after.refresh_token).toMatch(/^refresh-/);
    expect(after.refresh_token).not.toBe(before.refresh_token);
    hub.platform.identity.expireAccessTokens();
    expect((await hub.upload([title, video()])).status).toBe(200);
  });

  test('whose grant was taken back is expired until it is authorized anew; status does not call out [S3-expired, C7-token-expired, S7-token-expired, C7-status-local]', async () => {
    authorize(hub.platform, hub.tokenFile, { expiresIn: -5 });
    hub.platform.identity.revokeAll();
    expect(await isAuthenticated(hub)).toBe(true);
    const answer = await hub.upload([title, video()]);
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatchObject({
      code: 'token_expired',
      message: 'Token has been expired or revoked',
      type: 'authentication_error',
    });
    expect(errorOf(answer).hint).toMatch(/Log out.*7 days/);
    expect(await isAuthenticated(hub)).toBe(false);
    expect(existsSync(hub.tokenFile)).toBe(true);
    expect(hub.platform.identity.calls.refresh).toBe(1);
    // What was refused once is not asked again.
    expect((await hub.upload([title, video()])).json().error.code).toBe('token_expired');
    expect(hub.platform.identity.calls.refresh).toBe(1);

    await hub.ask('/videohost/auth/logout', { method: 'POST' });
    await follow(hub, await consent(hub));
    expect(await isAuthenticated(hub)).toBe(true);
    expect((await hub.upload([title, video()])).status).toBe(200);
  });

  test('without a refresh token is expired when its access token ends [C7-token-expired, S3-expired]', async () => {
    hub.platform.identity.givesRefreshTokens = false;
    await follow(hub, await consent(hub));
    expect(await isAuthenticated(hub)).toBe(true);
    writeFileSync(
      hub.tokenFile,
      JSON.stringify({ ...tokensIn(hub.tokenFile), expiry_date: Date.now() - 1000 }),
    );
    expect(await isAuthenticated(hub)).toBe(false);
    const answer = await hub.upload([title, video()]);
    expect([answer.status, answer.json().error.code]).toEqual([401, 'token_expired']);
  });

  test('names the refusal of the OAuth client at a refresh, and keeps its state while the provider is down [C7-oauth-client, C7-upstream, C7-token-atomic]', async () => {
    authorize(hub.platform, hub.tokenFile, { expiresIn: -5 });
    const text = readFileSync(hub.tokenFile, 'utf8');
    hub.platform.identity.tokenFaults.push({ status: 401, error: 'invalid_client' });
    const refused = await hub.upload([title, video()]);
    expect([refused.status, refused.json().error.code]).toEqual([502, 'oauth_failed']);
    hub.platform.identity.tokenFaults.push({ status: 503 }, { status: 503 }, { status: 503 });
    const down = await hub.upload([title, video()]);
    expect([down.status, down.json().error.code]).toEqual([502, 'upstream_unavailable']);
    expect(readFileSync(hub.tokenFile, 'utf8')).toBe(text);
    expect(await isAuthenticated(hub)).toBe(true);
    expect((await hub.upload([title, video()])).status).toBe(200);
  });

  test('that nobody has authorized is 401 with its id [C7-no-authentication, S7-no-authentication]', async () => {
    const answer = await hub.upload([title, video()]);
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatchObject({
      code: 'no_authentication',
      message: 'No authentication found for target: main',
    });
    expect(errorOf(answer).hint).toMatch(/GET \/videohost\/auth\/idp/);
  });

  test('whose token file is damaged is 401, and the file stays as it is [C7-no-authentication]', async () => {
    writeFileSync(hub.tokenFile, '{"access_tok');
    const answer = await hub.upload([title, video()]);
    expect([answer.status, answer.json().error.reason]).toEqual([401, 'token_file_unreadable']);
    expect(await isAuthenticated(hub)).toBe(false);
    expect(readFileSync(hub.tokenFile, 'utf8')).toBe('{"access_tok');
  });

  test('never shows a token, code, verifier or secret in a log or an answer, nor the query of its callback [C7-token-secrecy, S6-auth-events]', async () => {
    const seen = [...hub.platform.identity.secrets, ACCOUNT.client_secret];
    expect(seen.length).toBeGreaterThan(20);
    const logged = hub.stdout() + hub.stderr();
    for (const secret of seen) expect(logged).not.toContain(secret);
    expect(logged).toContain('"path":"/videohost/auth/idp/callback"');
    expect(logged).not.toMatch(/[?&](code|state)=/);
    const messages = hub.logs().map(({ message }) => message);
    expect(messages).toEqual(
      expect.arrayContaining([
        'An authorization was begun',
        'The account was authorized',
        'An authorization failed',
        'The account was logged out',
        'The access token could not be refreshed',
      ]),
    );
  });
});

test('any copy of the hub takes the callback, and two refresh an account once [C7-state-any-copy, C7-refresh-single-flight]', async () => {
  const first = await startVideoHub({ isUnauthorized: true });
  const second = await startVideoHub({ platform: first.platform, cwd: first.cwd });
  const redirect = await consent(first);
  expect((await follow(second, redirect)).status).toBe(200);
  expect((await follow(first, redirect)).json().error.reason).toBe('state_used');

  authorize(first.platform, first.tokenFile, { expiresIn: -5 });
  const answers = await Promise.all(
    [first, second, first, second].map((hub) => hub.upload([title, video()])),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(first.platform.identity.calls.refresh).toBe(1);
});

test('tokens survive a restart [S2.4-survives-restart, S1-video-accounts]', async () => {
  const hub = await startVideoHub({ isUnauthorized: true });
  await follow(hub, await consent(hub));
  const again = await hub.restart();
  expect(await isAuthenticated(again)).toBe(true);
  expect((await again.upload([title, video()])).status).toBe(200);
});

test('requireState: false takes a callback whose state an odd provider has lost [C7-state-optional]', async () => {
  const hub = await startVideoHub({ isUnauthorized: true, videohost: { requireState: false } });
  const redirect = await consent(hub);
  redirect.searchParams.delete('state');
  const answer = await follow(hub, redirect);
  expect([answer.status, answer.json()]).toEqual([200, { success: true, target: 'main' }]);
});

test('accounts keep their own files by the configured pattern [S2.4-accounts, S2.4-token-file, S2.4-token-path]', async () => {
  const platform = await startPlatform();
  const account = (id: string) => ({
    ...ACCOUNT,
    id,
    redirect_uri: `http://localhost/videohost/auth/idp/callback?target=${id}`,
  });
  const hub = await startVideoHub({
    platform,
    isUnauthorized: true,
    videohost: {
      accounts: [account('one'), account('two.b-2')],
      token_storage_path: './kept/here',
      token_storage_file: 't_{id}.json',
    },
  });
  for (const id of ['one', 'two.b-2']) {
    const { authUrl } = (await hub.ask('/videohost/auth/idp', { headers: { 'x-target': id } })).json();
    const { location = '' } = (await send(authUrl)).headers;
    expect((await follow(hub, new URL(location))).json()).toEqual({ success: true, target: id });
  }
  const [one, two] = ['one', 'two.b-2'].map((id) => tokensIn(join(hub.cwd, 'kept/here', `t_${id}.json`)));
  expect(one.refresh_token).not.toBe(two.refresh_token);
});

test.each<[string, { accounts: string[]; token_storage_file?: string }, RegExp]>([
  [
    'two accounts with one token file',
    { token_storage_file: 'token.json', accounts: ['a', 'b'] },
    /one token file/,
  ],
  ['an id that leaves the directory', { accounts: ['../a'] }, /accounts\[0\]\.id/],
  ['an id with two dots', { accounts: ['a..b'] }, /accounts\[0\]\.id/],
])(
  '%s is a configuration fault %#. [C2-one-token-file, C7-account-ids]',
  async (_what, { accounts, ...rest }, expected) => {
    const config = {
      videohost: {
        ...rest,
        accounts: accounts.map((id) => ({
          ...ACCOUNT,
          id,
          redirect_uri: 'http://localhost/videohost/auth/idp/callback',
        })),
      },
    };
    const { code, stderr } = await runHubProcess({ command: 'check', config });
    expect([code, stderr]).toEqual([1, expect.stringMatching(expected)]);
  },
);

test('a spool that cannot be written stops the start with one clear line [C2-upload-spool]', async () => {
  const platform = await startPlatform();
  const config = { videohost: platform.videohost({ upload: { spoolPath: '/dev/null/spool' } }) };
  const { code, stderr, stdout } = await runHubProcess({ config });
  expect([code, stderr.trim().split('\n')]).toEqual([
    1,
    [expect.stringMatching(/spool directory \/dev\/null\/spool/)],
  ]);
  expect(stdout).not.toMatch(/hub listening/);
});

test('a token directory that cannot be written stops the start with one clear line [C1-token-dir-unwritable]', async () => {
  const platform = await startPlatform();
  const config = { videohost: platform.videohost({ token_storage_path: '/dev/null/tokens' }) };
  const { code, stderr, stdout } = await runHubProcess({ config });
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toEqual([expect.stringMatching(/token directory \/dev\/null\/tokens/)]);
  expect(stdout).not.toMatch(/listening/);
});
