import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { createClientAddresses } from '../../../lib/http/client-ip.ts';
import { createOriginRules } from '../../../lib/http/origin.ts';

const request = (headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;

const rules = (options: { publicUrl?: string; corsOrigins?: string[]; trustProxy?: boolean } = {}) =>
  createOriginRules({
    publicUrl: options.publicUrl,
    corsOrigins: options.corsOrigins ?? [],
    addresses: createClientAddresses(options.trustProxy ?? false),
  });

describe('a page is the own one', () => {
  test('of hub.publicUrl, else of Host and trusted X-Forwarded-Proto and -Host [C2-public-url C4-cookie-cross-site]', () => {
    const forwarded = { host: 'inner:3000', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'hub.example' };
    const cases: [ReturnType<typeof rules>, Record<string, string>, boolean][] = [
      [rules(), { host: 'hub.example', origin: 'http://hub.example' }, true],
      [rules(), { host: 'hub.example', origin: 'https://hub.example' }, false],
      [rules(), { host: 'hub.example:3000', origin: 'http://hub.example' }, false],
      [rules(), { ...forwarded, origin: 'https://hub.example' }, false],
      [rules({ trustProxy: true }), { ...forwarded, origin: 'https://hub.example' }, true],
      [rules({ trustProxy: true }), { ...forwarded, origin: 'http://inner:3000' }, false],
      [
        rules({ publicUrl: 'https://hub.example' }),
        { host: 'inner:3000', origin: 'https://hub.example' },
        true,
      ],
      [
        rules({ publicUrl: 'https://hub.example' }),
        { host: 'inner:3000', origin: 'http://inner:3000' },
        false,
      ],
      // The machine's own name stays the hub's own behind a public one.
      [
        rules({ publicUrl: 'https://hub.example' }),
        { host: 'localhost:3000', origin: 'http://localhost:3000' },
        true,
      ],
    ];
    for (const [rule, headers, expected] of cases) {
      expect([headers, rule.isOwnPage(request(headers))]).toEqual([headers, expected]);
    }
  });

  test('also where hub.cors.origins lists it, but * lists nobody who brings a cookie', () => {
    const headers = { host: 'hub.example', origin: 'https://app.example' };
    expect(rules({ corsOrigins: ['https://app.example'] }).isOwnPage(request(headers))).toBe(true);
    expect(rules({ corsOrigins: ['*'] }).isOwnPage(request(headers))).toBe(false);
    expect(rules({ corsOrigins: ['*'] }).isOwnPage(request({ host: 'hub.example', origin: 'null' }))).toBe(
      false,
    );
  });
});
