import { describe, expect, test } from '@jest/globals';
import { compileNetworks } from '../../../lib/auth/networks.ts';

describe('allowed networks', () => {
  test('an empty list admits every address [S2.3-networks]', () => {
    expect(compileNetworks([])('203.0.113.9')).toBe(true);
    expect(compileNetworks([])('unknown')).toBe(true);
  });

  test.each([
    [['10.0.0.0/8'], '10.255.0.1', true],
    [['10.0.0.0/8'], '11.0.0.1', false],
    [['10.1.2.3/8'], '10.9.9.9', true],
    [['10.0.0.1'], '10.0.0.1', true],
    [['10.0.0.1'], '10.0.0.2', false],
    [['10.0.0.1/32'], '10.0.0.2', false],
    [['0.0.0.0/0'], '203.0.113.9', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['2001:db8::/32'], '2001:db8:1::1', true],
    [['2001:DB8:0:0::1'], '2001:db8::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['::1'], '::1', true],
    [['fe80::/10'], 'fe80::1%eth0', true],
    [['10.0.0.1', '192.168.0.0/16'], '192.168.3.4', true],
  ])('%j on %s is %s [S2.3-networks]', (list, address, expected) => {
    expect(compileNetworks(list)(address)).toBe(expected);
  });

  test.each([
    ['10.0.0.0/8', '::ffff:10.1.2.3'],
    ['10.0.0.0/8', '::FFFF:0a01:0203'],
    ['10.0.0.0/8', '0:0:0:0:0:ffff:10.1.2.3'],
    ['::ffff:10.0.0.0/104', '10.1.2.3'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
  ])('%s holds %s: both spellings of an IPv4 address are one', (entry, address) => {
    expect(compileNetworks([entry])(address)).toBe(true);
  });

  test.each(['unknown', '', '10.0.0.1.', 'localhost', '10.0.0.1, 10.0.0.2', '010.0.0.1'])(
    '%j is no address, and outside of every list',
    (address) => {
      expect(compileNetworks(['0.0.0.0/0', '::/0'])(address)).toBe(false);
    },
  );

  test.each([
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'localhost',
    '::1/129',
    '',
    '::ffff:1.2.3.4/90',
  ])('%j stops the start, instead of admitting somebody by mistake', (entry) => {
    expect(() => compileNetworks([entry])).toThrow('neither an address nor a CIDR range');
  });
});
