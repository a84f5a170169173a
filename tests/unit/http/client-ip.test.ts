import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { createClientAddresses } from '../../../lib/http/client-ip.ts';

function request(peer: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage;
}

const clientIp = (trust: boolean | string, peer: string | undefined, forwarded?: string) =>
  createClientAddresses(trust).clientIp(request(peer, forwarded));

describe('the client address', () => {
  test.each([
    ['127.0.0.1', '9.9.9.9', '127.0.0.1'],
    ['::ffff:10.0.0.1', undefined, '10.0.0.1'],
    ['::1', '9.9.9.9', '::1'],
    [undefined, '9.9.9.9', 'unknown'],
  ])(
    'trusting nobody: peer %s with X-Forwarded-For %s is %s [C4-trust-mapped]',
    (peer, forwarded, expected) => {
      expect(clientIp(false, peer, forwarded)).toBe(expected);
    },
  );

  test.each([
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '9.9.9.9', '9.9.9.9'],
    ['10.0.0.1', '6.6.6.6, 9.9.9.9', '9.9.9.9'],
    ['10.0.0.1', '6.6.6.6 ,  ::ffff:9.9.9.9 ', '9.9.9.9'],
    ['10.0.0.1', '6.6.6.6, 2001:db8::1', '2001:db8::1'],
    ['10.0.0.1', '9.9.9.9:4711', '9.9.9.9'],
    ['10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['10.0.0.1', '6.6.6.6, unknown', '10.0.0.1'],
    ['10.0.0.1', '6.6.6.6,', '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
  ])(
    'trusting the direct peer: %s with X-Forwarded-For %j is %s [S2.1-trust-proxy, C4-trust-true]',
    (peer, forwarded, expected) => {
      expect(clientIp(true, peer, forwarded)).toBe(expected);
    },
  );

  const list = '10.0.0.0/8, 192.168.1.1, fd00::/8, ::ffff:172.16.0.0/108';
  test.each([
    ['8.8.8.8', '9.9.9.9', '8.8.8.8'],
    ['10.0.0.1', '9.9.9.9', '9.9.9.9'],
    ['::ffff:10.0.0.1', '9.9.9.9', '9.9.9.9'],
    ['10.0.0.1', '6.6.6.6, 9.9.9.9, 192.168.1.1', '9.9.9.9'],
    ['10.0.0.1', '6.6.6.6, 9.9.9.9, ::ffff:192.168.1.1, 172.16.5.5', '9.9.9.9'],
    ['fd00::1', '6.6.6.6, fd12::3', '6.6.6.6'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', '6.6.6.6, nonsense, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '6.6.6.6, 10.0.0.999', '10.0.0.1'],
    ['192.168.1.2', '6.6.6.6', '192.168.1.2'],
  ])(
    'trusting a list: %s with X-Forwarded-For %s is %s [C4-trust-list, C4-trust-malformed, C4-trust-mapped]',
    (peer, forwarded, expected) => {
      expect(clientIp(list, peer, forwarded)).toBe(expected);
    },
  );

  test('a list that names nobody trusts nobody, and a list that cannot be read fails at start', () => {
    expect(clientIp(' , ', '10.0.0.1', '9.9.9.9')).toBe('10.0.0.1');
    expect(() => createClientAddresses('10.0.0.0/99')).toThrow('10.0.0.0/99');
  });

  test('forwarded headers are believed from trusted peers only', () => {
    expect(createClientAddresses(false).trustsPeer(request('10.0.0.1'))).toBe(false);
    expect(createClientAddresses(true).trustsPeer(request('8.8.8.8'))).toBe(true);
    const addresses = createClientAddresses(list);
    expect(addresses.trustsPeer(request('::ffff:10.9.9.9'))).toBe(true);
    expect(addresses.trustsPeer(request('8.8.8.8'))).toBe(false);
  });
});
