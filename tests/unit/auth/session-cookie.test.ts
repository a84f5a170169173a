import { expect, test } from '@jest/globals';
import { createSessionCookie } from '../../../lib/auth/session-cookie.ts';

const options = { name: 'hub.sid', secret: 'a'.repeat(40), sameSite: 'lax', ttlMs: 60_000 } as const;
const pairOf = (setCookie: string) => setCookie.split(';')[0] ?? '';

test('a cookie is read back by its own secret and name alone, among others and again and again', () => {
  const cookie = createSessionCookie(options);
  const pair = pairOf(cookie.issue('session-1', false));
  for (let turn = 0; turn < 3; turn += 1) {
    expect(cookie.read(`a=1; ${pair}; b=2`)).toBe('session-1');
    expect(cookie.read(`hub.sid=session-1.AAAA; ${pair}`)).toBe('session-1');
    expect(cookie.read(pair.replace('session-1', 'session-2'))).toBeUndefined();
    expect(cookie.read(`${pair.slice(0, -3)}AAA`)).toBeUndefined();
  }
  expect(cookie.read(pair.replace('hub.sid', 'hub.sid2'))).toBeUndefined();
  expect(createSessionCookie({ ...options, secret: 'b'.repeat(40) }).read(pair)).toBeUndefined();
  expect(createSessionCookie({ ...options, name: 'other' }).read(pair)).toBeUndefined();
});

test.each(['strict', 'lax', 'none'] as const)(
  'SameSite %s is written as browsers know it; None is always Secure',
  (sameSite) => {
    const attributes = createSessionCookie({ ...options, sameSite })
      .issue('x', false)
      .split('; ');
    expect(attributes).toContain(`SameSite=${sameSite[0]?.toUpperCase()}${sameSite.slice(1)}`);
    expect(attributes.includes('Secure')).toBe(sameSite === 'none');
  },
);
