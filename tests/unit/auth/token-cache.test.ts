import { expect, test } from '@jest/globals';
import { createTokenCache } from '../../../lib/auth/token-cache.ts';
import type { Identity } from '../../../lib/auth/verifier.ts';

/** A cache over a verifier that lets in every token that does not begin with `bad`. */
function counted(options: { cacheTtlMs?: number; identity?: (token: string) => Identity } = {}) {
  const state = { time: 1_000_000, asked: [] as string[] };
  const cache = createTokenCache({
    verifier: {
      async verify(token) {
        state.asked.push(token);
        if (token.startsWith('bad')) return undefined;
        return options.identity?.(token) ?? { id: `id of ${token}` };
      },
    },
    cacheTtlMs: options.cacheTtlMs ?? 60_000,
    timeoutMs: 1000,
    now: () => state.time,
  });
  return { state, cache };
}

test('an accepted token is trusted for cacheTtl and no longer [C4-cache-positive C2-auth-times]', async () => {
  const { state, cache } = counted();
  await cache.verify('a');
  state.time += 59_999;
  expect(await cache.verify('a')).toMatchObject({ identity: { id: 'id of a' } });
  expect(state.asked).toHaveLength(1);
  state.time += 1;
  await cache.verify('a');
  expect(state.asked).toHaveLength(2);
});

test('a refused token is refused for five seconds and no longer [C4-cache-negative]', async () => {
  const { state, cache } = counted();
  await cache.verify('bad');
  state.time += 4999;
  expect(await cache.verify('bad')).toBeUndefined();
  expect(state.asked).toHaveLength(1);
  state.time += 1;
  await cache.verify('bad');
  expect(state.asked).toHaveLength(2);
});

test('with cacheTtl 0 each request asks', async () => {
  const { state, cache } = counted({ cacheTtlMs: 0 });
  for (let turn = 0; turn < 3; turn += 1) await cache.verify('a');
  expect(state.asked).toHaveLength(3);
});

test('a token that says when it ends is not trusted past that', async () => {
  const { state, cache } = counted({ identity: () => ({ id: 'x', expiresAt: 1_000_500 }) });
  await cache.verify('a');
  state.time += 499;
  await cache.verify('a');
  expect(state.asked).toHaveLength(1);
  state.time += 1;
  await cache.verify('a');
  expect(state.asked).toHaveLength(2);
});

test('a flood of wrong tokens pushes no right one out, and neither kind grows past its bound [C4-cache-bound]', async () => {
  const { state, cache } = counted();
  await cache.verify('first');
  for (let index = 0; index < 12_000; index += 1) await cache.verify(`bad-${index}`);
  state.asked.length = 0;
  await cache.verify('first');
  await cache.verify('bad-11999');
  expect(state.asked).toEqual([]);
  await cache.verify('bad-0');
  expect(state.asked).toEqual(['bad-0']);
  for (let index = 0; index < 10_000; index += 1) await cache.verify(`good-${index}`);
  state.asked.length = 0;
  await cache.verify('first');
  expect(state.asked).toEqual(['first']);
});

test('more tokens at once than can be asked about are 503, before memory grows', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const cache = createTokenCache({
    verifier: { verify: (token) => held.then(() => ({ id: token })) },
    cacheTtlMs: 1000,
    timeoutMs: 1000,
    now: () => 0,
  });
  const flights = Array.from({ length: 1000 }, (_, index) => cache.verify(`token-${index}`));
  expect(() => cache.verify('one-more')).toThrow(expect.objectContaining({ code: 'identity_unavailable' }));
  // Whoever presents a token that is asked about already waits with the others.
  const joined = cache.verify('token-0');
  release();
  expect(await joined).toMatchObject({ identity: { id: 'token-0' } });
  await Promise.all(flights);
  expect(await cache.verify('one-more')).toMatchObject({ identity: { id: 'one-more' } });
});
