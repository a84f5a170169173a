import * as crypto from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, jest, test } from '@jest/globals';
import type { HubRequest } from '../../../lib/http/request-context.ts';
import { silentLogger } from '../../../lib/logging/record-logger.ts';

/** How often two texts were compared in constant time. */
let comparisons = 0;
jest.unstable_mockModule('node:crypto', () => ({
  ...crypto,
  timingSafeEqual(a: Buffer, b: Buffer) {
    comparisons += 1;
    return crypto.timingSafeEqual(a, b);
  },
}));
const { adminKeyId, createAdminGuard } = await import('../../../lib/auth/admin-key.ts');

const KEY = 'unit-test-admin-key-0123456789-abcdef';

function requestWith(headers: [string, string][], url = '/admin/runtime'): HubRequest {
  const message = new IncomingMessage(new Socket());
  message.url = url;
  for (const [name, value] of headers) {
    message.headers[name.toLowerCase()] = value;
    message.rawHeaders.push(name, value);
  }
  return Object.assign(message, {
    hub: {
      id: 'r1',
      startedAt: 0,
      clientIp: '192.0.2.1',
      traceparent: undefined,
      signal: new AbortController().signal,
      caller: { id: undefined, label: 'ip:192.0.2.1' },
      log: {},
    },
  });
}

const guardWith = (...apiKeys: string[]) =>
  createAdminGuard({
    admin: { enabled: true, apiKeys, allowedNetworks: [] },
    store: { count: async () => ({ count: 1, resetMs: 1000 }) },
    logger: silentLogger,
  });

test('a key that was checked is on the request no more, in no form [S5.3-header-removed]', async () => {
  const request = requestWith([
    ['Host', 'h'],
    ['X-Admin-Key', KEY],
    ['Accept', '*/*'],
  ]);
  await guardWith(KEY)(request);
  expect(request.headers).toEqual({ host: 'h', accept: '*/*' });
  expect(request.rawHeaders).toEqual(['Host', 'h', 'Accept', '*/*']);
  expect(request.headersDistinct).not.toHaveProperty('x-admin-key');
  expect(request.hub.caller).toEqual({ id: adminKeyId(KEY), label: `admin:${adminKeyId(KEY)}` });
});

test('a bearer that was an admin key is taken off as well', async () => {
  const request = requestWith([['Authorization', `Bearer ${KEY}`]], '/metrics');
  await guardWith(KEY)(request);
  expect(request.headers).toEqual({});
});

test('a key beyond ASCII is known as browsers and as command lines send it', async () => {
  const key = 'ein-schlüssel-mit-umlaut-und-länge-0123';
  await guardWith(key)(requestWith([['x-admin-key', key]]));
  const asUtf8 = Buffer.from(key, 'utf8').toString('latin1');
  await guardWith(key)(requestWith([['x-admin-key', asUtf8]]));
});

test('no key is none of no keys', async () => {
  await expect(async () => guardWith()(requestWith([['x-admin-key', '']]))).rejects.toMatchObject({
    code: 'admin_forbidden',
  });
});

test('an allowed network that is none stops the start', () => {
  expect(() =>
    createAdminGuard({
      admin: { enabled: true, apiKeys: [KEY], allowedNetworks: ['10.0.0.0/99'] },
      store: { count: async () => ({ count: 1, resetMs: 1000 }) },
      logger: silentLogger,
    }),
  ).toThrow('10.0.0.0/99');
});

test('is compared with every configured key in constant time, wherever it stands among them [S5.3-constant-time]', async () => {
  const keys = ['first', 'second', 'third'].map((name) => `${name}-admin-key-0123456789-0123456789`);
  const guard = guardWith(...keys);
  for (const key of keys) {
    comparisons = 0;
    await guard(requestWith([['x-admin-key', key]]));
    expect(comparisons).toBe(3);
  }
  for (const wrong of ['x', `${keys[0]}x`, keys[0]?.slice(0, -1) ?? '']) {
    comparisons = 0;
    await expect(async () => guard(requestWith([['x-admin-key', wrong]]))).rejects.toMatchObject({
      code: 'admin_unauthorized',
    });
    // As it came, and read as UTF-8.
    expect(comparisons).toBe(6);
  }
});
