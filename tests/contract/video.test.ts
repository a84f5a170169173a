import { describe, expect, test } from '@jest/globals';
import { clientOf, closedServers, servers } from '../helpers/contract.ts';

const target = { 'x-target': 'main' };

describe.each(servers)('$name', (server) => {
  const ask = clientOf(server);

  test.each([
    ['GET', '/videohost/auth/idp'],
    ['GET', '/videohost/auth/status'],
    ['POST', '/videohost/auth/logout'],
    ['POST', '/videohost/upload'],
  ])(
    '%s %s without x-target is 400 target_required, with an unknown one 404 account_not_found [C7-target]',
    async (method, path) => {
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      const missing = await ask(path, { method, headers });
      expect([missing.status, missing.json().error.code]).toEqual([400, 'target_required']);
      const unknown = await ask(path, { method, headers: { ...headers, 'x-target': 'none' } });
      expect([unknown.status, unknown.json().error.code]).toEqual([404, 'account_not_found']);
    },
  );

  test('the authorization URL asks for both scopes, offline access, consent and PKCE S256 [S4.2-auth-url, S3-auth-url, S2.4-scopes, S2.4-redirect-uri, C7-pkce]', async () => {
    const answer = await ask('/videohost/auth/idp', { headers: target });
    expect(answer.status).toBe(200);
    const query = Object.fromEntries(new URL(answer.json().authUrl).searchParams);
    expect(query).toMatchObject({
      response_type: 'code',
      client_id: 'client-of-contract-tests',
      redirect_uri: 'https://hub.example/videohost/auth/idp/callback?target=main',
      access_type: 'offline',
      prompt: 'consent select_account',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/./),
    });
    expect(query.scope?.split(' ')).toHaveLength(2);
    expect(answer.text).not.toContain('client-secret');
    const status = await ask('/videohost/auth/status', { headers: target });
    expect(status.json()).toEqual({ authenticated: false, target: 'main' });
  });

  test('an account without tokens has the status false and refuses uploads by name [S4.2-status, S3-status, C7-no-authentication, C7-error-members, S7-no-authentication]', async () => {
    const status = await ask('/videohost/auth/status', { headers: target });
    expect(status.status).toBe(200);
    expect(status.json()).toEqual({ authenticated: false, target: 'main' });
    const upload = await ask('/videohost/upload', {
      method: 'POST',
      headers: { ...target, 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\nt\r\n--x--\r\n',
    });
    expect(upload.status).toBe(401);
    expect(upload.json().error).toMatchObject({
      code: 'no_authentication',
      type: 'authentication_error',
      message: 'No authentication found for target: main',
      target: 'main',
      reason: expect.any(String),
      hint: expect.any(String),
    });
  });

  test('signing out of an account without tokens is 200 [S4.2-logout, C7-logout-idempotent]', async () => {
    const answer = await ask('/videohost/auth/logout', { method: 'POST', headers: target });
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ success: true, message: expect.any(String) });
  });

  test('a callback without a valid state is 400 OAuth authentication failed [C7-state-invalid, C7-oauth-denied, S7-oauth-failed]', async () => {
    for (const query of ['', '&state=made-up&code=abc', '&error=access_denied']) {
      const answer = await ask(`/videohost/auth/idp/callback?target=main${query}`, {
        headers: { accept: 'application/json' },
      });
      expect([query, answer.status]).toEqual([query, 400]);
      expect(answer.json().error).toMatchObject({
        code: 'oauth_failed',
        message: 'OAuth authentication failed',
      });
    }
  });

  test('there are no uploads yet, and an unknown one is 404 [C7-jobs]', async () => {
    expect((await ask('/videohost/uploads')).json()).toEqual({ uploads: [] });
    expect((await ask('/videohost/uploads/none')).status).toBe(404);
    expect((await ask('/videohost/uploads/none', { method: 'DELETE' })).status).toBe(404);
  });
});

describe.each(closedServers)('$name with main authentication', (server) => {
  const ask = clientOf(server);

  test('the video routes ask for credentials, the callback does not [C4-protected, S4.2-callback, S5.2-public, C3-auth-first]', async () => {
    for (const path of [
      '/videohost/auth/idp',
      '/videohost/auth/status',
      '/videohost/uploads',
      '/videohost/nothing',
    ]) {
      expect([path, (await ask(path, { headers: target })).status]).toEqual([path, 401]);
    }
    const callback = await ask('/videohost/auth/idp/callback?target=main');
    expect(callback.status).toBe(400);
  });
});
