import { expect, test } from '@jest/globals';
import { createSessions } from '../../../lib/auth/sessions.ts';
import { createMemoryStore } from '../../../lib/store/memory-store.ts';
import type { SharedStore } from '../../../lib/store/shared-store.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {}, enabled: () => false };
const token = { hash: 'hash-of-a', identity: { id: 'anna' } };

/** Sessions over a memory store that counts its calls and can be taken away. */
function fixture(ttlMs = 60_000) {
  const state = { time: 1_000_000, calls: [] as string[], isAway: false };
  const memory = createMemoryStore({ now: () => state.time });
  const store = new Proxy(memory, {
    get(target, name: keyof SharedStore) {
      const method = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        state.calls.push(name);
        return state.isAway ? Promise.reject(new Error('away')) : method.apply(target, args);
      };
    },
  });
  const open = () => createSessions({ store, ttlMs, now: () => state.time, logger: quiet });
  return { state, open, sessions: open() };
}

test('repeats of a token reuse its session without a write, and for five seconds without a call [C4-session-reuse]', async () => {
  const { state, sessions } = fixture();
  const id = await sessions.ofToken(token);
  state.calls.length = 0;
  expect(sessions.ofToken(token)).toBe(id);
  expect(state.calls).toEqual([]);
  state.time += 5000;
  expect(await sessions.ofToken(token)).toBe(id);
  expect(state.calls).toEqual(['get']);
});

test('two copies of the hub find one session for one token, whoever begins it [C4-session-start]', async () => {
  const { open } = fixture();
  const [one, other] = [open(), open()];
  const ids = await Promise.all([one.ofToken(token), other.ofToken(token), one.ofToken(token)]);
  expect(new Set(ids).size).toBe(1);
  expect(await other.identityOf(ids[0] ?? '')).toBe('anna');
});

test('a session that another copy has ended is not given out again for long', async () => {
  const { state, open, sessions } = fixture();
  const id = await sessions.ofToken(token);
  await open().end(id ?? '');
  expect(await sessions.identityOf(id ?? '')).toBeUndefined();
  state.time += 5000;
  expect(await sessions.ofToken(token)).not.toBe(id);
});

test('a session is not given out past its end, whichever copy of the hub found it [C4-session-reuse]', async () => {
  const { state, open, sessions } = fixture(60_000);
  const id = await sessions.ofToken(token);
  state.time += 59_000;
  const other = open();
  expect([await sessions.ofToken(token), await other.ofToken(token)]).toEqual([id, id]);
  state.time += 1000;
  const next = await other.ofToken(token);
  expect(next).not.toBe(id);
  expect(await sessions.ofToken(token)).toBe(next);
  expect(await sessions.identityOf(next ?? '')).toBe('anna');
});

test('a session ends with its lifetime, and never outlives a jwt [C4-session-jwt-exp C4-cookie-bad]', async () => {
  const { state, sessions } = fixture(60_000);
  const long = (await sessions.ofToken(token)) ?? '';
  const expiring = { hash: 'hash-of-b', identity: { id: 'bert', expiresAt: state.time + 10_000 } };
  const short = (await sessions.ofToken(expiring)) ?? '';
  state.time += 9_999;
  expect(await sessions.identityOf(short)).toBe('bert');
  state.time += 1;
  expect(await sessions.identityOf(short)).toBeUndefined();
  state.time += 49_999;
  expect(await sessions.identityOf(long)).toBe('anna');
  state.time += 1;
  expect(await sessions.identityOf(long)).toBeUndefined();
  // Within the clock's tolerance a token may be let in that is over: it begins no session.
  expect(await sessions.ofToken({ ...expiring, hash: 'hash-of-c' })).toBeUndefined();
});

test('while the store is away a bearer waits for nobody and a cookie is 503; both recover [C4-redis-down]', async () => {
  const { state, sessions } = fixture();
  const id = (await sessions.ofToken(token)) ?? '';
  state.isAway = true;
  state.time += 5000;
  expect(await sessions.ofToken(token)).toBeUndefined();
  state.calls.length = 0;
  for (let turn = 0; turn < 10; turn += 1) expect(sessions.ofToken(token)).toBeUndefined();
  expect(state.calls).toEqual([]);
  await expect(sessions.identityOf(id)).rejects.toMatchObject({
    code: 'session_store_unavailable',
    status: 503,
  });
  await expect(sessions.end(id)).rejects.toMatchObject({ code: 'session_store_unavailable' });

  state.isAway = false;
  expect(await sessions.identityOf(id)).toBe('anna');
  state.time += 1000;
  expect(sessions.ofToken(token)).toBeUndefined();
  await new Promise(setImmediate);
  expect(await sessions.ofToken(token)).toBe(id);
});
