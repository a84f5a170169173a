import { describe, expect, test } from '@jest/globals';
import { HubError } from '../../../lib/errors/hub-error.ts';
import { createAccountTokens } from '../../../lib/videohost/account-tokens.ts';
import { createAuthorization } from '../../../lib/videohost/authorization.ts';
import type { IdentityProvider } from '../../../lib/videohost/platform.ts';
import { createStateSeal } from '../../../lib/videohost/sealed-state.ts';
import { createMemoryTokenStore } from '../../../lib/videohost/token-store/memory.ts';
import type { Tokens } from '../../../lib/videohost/token-store/token-store.ts';
import { platformUnavailable, secondsToMidnightPacific } from '../../../lib/videohost/video-errors.ts';
import { recordingLogs } from '../http/serve.ts';

const account = {
  id: 'main',
  clientId: 'id',
  clientSecret: 'a-client-secret',
  redirectUri: 'http://localhost/cb',
};
const signal = AbortSignal.timeout(20_000);
const MINUTE = 60_000;

/** An account with an identity provider that answers as told, and a clock that is told too. */
function setUp(answer: () => Promise<Tokens>) {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const store = createMemoryTokenStore({ now });
  const logs = recordingLogs();
  const logger = logs.logger('videohost', 'videohost');
  const calls = { refresh: 0, states: [] as string[] };
  const identity: IdentityProvider = {
    async authorizationUrl({ state }) {
      calls.states.push(state);
      return `http://idp/?state=${state}`;
    },
    exchange: answer,
    refresh() {
      calls.refresh += 1;
      return answer();
    },
    revoke: async () => {},
  };
  const tokens = createAccountTokens({ accountId: 'main', store, identity, logger, now });
  const authorization = createAuthorization({
    account,
    store,
    identity,
    tokens,
    callbackError: (reason) => new Error(reason),
    allowsUploads: () => true,
    requireState: true,
    logger,
    now,
  });
  return { clock, store, tokens, authorization, calls, records: logs.records };
}

const fresh = (clock: { now: number }, minutes = 60): Tokens => ({
  access_token: `access-${clock.now}-${minutes}`,
  refresh_token: 'refresh-1',
  scope: 'a',
  token_type: 'Bearer',
  expiry_date: clock.now + minutes * MINUTE,
});

describe('tokens', () => {
  test('are refreshed five minutes ahead of their end, once for all who ask [S3-auto-refresh, C7-refresh-single-flight]', async () => {
    const { clock, store, tokens, calls } = setUp(async () => fresh(clock));
    await store.write('main', fresh(clock, 6));
    const first = await tokens.accessToken(signal);
    expect(calls.refresh).toBe(0);
    clock.now += 2 * MINUTE;
    const each = () => tokens.accessToken(AbortSignal.timeout(20_000));
    const many = await Promise.all(Array.from({ length: 20 }, each));
    expect([calls.refresh, new Set(many).size]).toEqual([1, 1]);
    expect(many[0]).not.toBe(first);
  });

  test('still do for a while when a refresh ahead of time fails [C7-upstream]', async () => {
    const down = () => Promise.reject(platformUnavailable('main', 'identity provider', 'unreachable'));
    const { clock, store, tokens } = setUp(down);
    await store.write('main', fresh(clock, 4));
    expect(await tokens.accessToken(signal)).toMatch(/^access-/);
    clock.now += 4 * MINUTE;
    await expect(tokens.accessToken(signal)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(await tokens.isAuthenticated()).toBe(true);
  });

  test('that the platform has refused are refreshed before their end, and not again by whoever comes late', async () => {
    const { clock, store, tokens, calls } = setUp(async () => fresh(clock, 59));
    await store.write('main', fresh(clock, 60));
    const refused = await tokens.accessToken(signal);
    const next = await tokens.accessToken(signal, refused);
    expect(next).not.toBe(refused);
    expect(await tokens.accessToken(signal, refused)).toBe(next);
    expect(calls.refresh).toBe(1);
  });

  test('of a new grant make an old refusal void [C7-status-local, S3-expired]', async () => {
    let isRefused = true;
    const { clock, store, tokens } = setUp(async () => {
      if (isRefused) {
        throw new HubError('token_expired', 'x', { extra: { reason: 'invalid_grant' } });
      }
      return fresh(clock);
    });
    await store.write('main', fresh(clock, -1));
    await expect(tokens.accessToken(signal)).rejects.toMatchObject({ code: 'token_expired' });
    expect(await tokens.isAuthenticated()).toBe(false);
    isRefused = false;
    // As when somebody restores the file by hand.
    await store.write('main', { ...fresh(clock, -1), refresh_token: 'refresh-2' });
    expect(await tokens.isAuthenticated()).toBe(true);
    expect(await tokens.accessToken(signal)).toMatch(/^access-/);
  });

  test('are not brought back by a refresh that a logout overtakes [S3-logout]', async () => {
    let answer: (tokens: Tokens) => void = () => {};
    const { clock, store, tokens } = setUp(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await store.write('main', fresh(clock, -1));
    const refreshing = tokens.accessToken(signal);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const leaving = tokens.logout(signal);
    answer(fresh(clock));
    await refreshing;
    expect(await leaving).toBe('revoked');
    expect(await store.read('main')).toBeUndefined();
  });

  test('a caller who leaves ends his own wait, not the refresh', async () => {
    let answer: (tokens: Tokens) => void = () => {};
    const { clock, store, tokens, calls } = setUp(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await store.write('main', fresh(clock, -1));
    const leaving = new AbortController();
    const gone = tokens.accessToken(leaving.signal);
    const staying = tokens.accessToken(signal);
    await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    answer(fresh(clock));
    expect(await staying).toMatch(/^access-/);
    expect(calls.refresh).toBe(1);
  });
});

describe('a state', () => {
  const callback = (state: string) => new URLSearchParams({ state, code: 'c' });

  test('is good for ten minutes [C7-state]', async () => {
    const { clock, authorization, calls } = setUp(async () => fresh(clock));
    for (const [minutes, isGood] of [
      [9.9, true],
      [10, false],
    ] as const) {
      await authorization.begin({ captions: false });
      clock.now += minutes * MINUTE;
      const finished = authorization.finish(callback(calls.states.at(-1) ?? ''), signal);
      if (isGood) await finished;
      else {
        await expect(finished).rejects.toMatchObject({
          code: 'oauth_failed',
          status: 400,
          extra: expect.objectContaining({ reason: 'invalid_state' }),
        });
      }
    }
  });

  test('of another account with the same secret is refused [C7-state]', async () => {
    const { clock, authorization } = setUp(async () => fresh(clock));
    const seal = createStateSeal(account.clientSecret);
    const foreign = seal.seal({
      accountId: 'second',
      nonce: 'n',
      verifier: 'v',
      expiresAt: clock.now + MINUTE,
    });
    await expect(authorization.finish(callback(foreign), signal)).rejects.toMatchObject({ status: 400 });
  });

  test('opens with the secret that sealed it, and with no other; no byte of it may change [C7-state-any-copy]', () => {
    const state = { accountId: 'main', nonce: 'n', verifier: 'v'.repeat(43), expiresAt: 1 };
    const sealed = createStateSeal('one secret').seal(state);
    expect(sealed).not.toContain(Buffer.from('v'.repeat(6)).toString('base64url'));
    expect(createStateSeal('one secret').open(sealed)).toEqual(state);
    expect(createStateSeal('another secret').open(sealed)).toBeUndefined();
    const bytes = Buffer.from(sealed, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const altered = Buffer.from(bytes);
      altered[index] = (altered[index] ?? 0) ^ 1;
      expect(createStateSeal('one secret').open(altered.toString('base64url'))).toBeUndefined();
    }
    for (const text of ['', 'x', sealed.slice(0, 30)]) {
      expect(createStateSeal('one secret').open(text)).toBeUndefined();
    }
  });
});

test.each([
  ['2026-11-20T07:59:59Z', 1],
  ['2026-11-20T08:00:00Z', 86_400],
  ['2026-07-01T06:00:00Z', 3600],
])('at %s it is %d s to midnight Pacific [C7-quota]', (time, seconds) => {
  expect(secondsToMidnightPacific(Date.parse(time))).toBe(seconds);
});
