import { describe, expect, test } from '@jest/globals';
import { readEnvironment } from '../../../lib/config/environment.ts';
import { parseSize } from '../../../lib/config/size.ts';
import { nearest } from '../../../lib/config/suggest.ts';

describe('the environment', () => {
  test('has defaults; an empty variable is one that is not set', () => {
    const nothing = {
      configPath: './config.yaml',
      hubPort: undefined,
      hubHost: undefined,
      ailinkPort: 3100,
      ailinkHost: undefined,
      ailinkUrl: undefined,
      ailinkToken: undefined,
      skipSchemaValidation: false,
      startedByNpm: false,
      outboundProxy: { https: undefined, http: undefined, no: undefined },
    };
    expect(readEnvironment({})).toEqual(nothing);
    expect(readEnvironment({ HUB_CONFIG: '', HUB_PORT: '', AILINK_PORT: '', HTTPS_PROXY: '' })).toEqual(
      nothing,
    );
  });

  test('is read whole', () => {
    expect(
      readEnvironment({
        HUB_CONFIG: '/etc/hub.yaml',
        HUB_PORT: '0',
        HUB_HOST: '::',
        AILINK_PORT: '3200',
        AILINK_HOST: '0.0.0.0',
        AILINK_URL: 'http://companion:3100',
        AILINK_TOKEN: 'token',
        HUB_SKIP_SCHEMA_VALIDATION: 'TRUE',
        npm_lifecycle_event: 'start',
        https_proxy: 'proxy.example.org:3128',
        HTTP_PROXY: 'http://proxy.example.org',
        NO_PROXY: 'localhost',
      }),
    ).toMatchObject({
      configPath: '/etc/hub.yaml',
      hubPort: 0,
      hubHost: '::',
      ailinkPort: 3200,
      ailinkHost: '0.0.0.0',
      ailinkUrl: 'http://companion:3100',
      ailinkToken: 'token',
      skipSchemaValidation: true,
      startedByNpm: true,
      outboundProxy: {
        https: 'http://proxy.example.org:3128',
        http: 'http://proxy.example.org',
        no: 'localhost',
      },
    });
  });

  test('never throws: what is malformed is for loadConfig to report', () => {
    expect(readEnvironment({ HUB_PORT: 'x', AILINK_PORT: '99999', HTTP_PROXY: 'socks5://a' })).toMatchObject({
      hubPort: undefined,
      ailinkPort: 3100,
      outboundProxy: { http: undefined },
    });
  });
});

test.each([
  ['512', 512],
  [512, 512],
  ['1b', 1],
  ['64 kB', 65_536],
  ['10mb', 10_485_760],
  ['10m', 10_485_760],
  ['1.5g', 1_610_612_736],
  ['128gb', 137_438_953_472],
  ['1TB', 1_099_511_627_776],
])('the size %j is %d bytes', (size, bytes) => {
  expect(parseSize(size)).toBe(bytes);
});

test.each(['', 'ten', '-1', '10mbs', '1 0', '1e3'])('%j is no size', (size) => {
  expect(() => parseSize(size)).toThrow(RangeError);
});

test.each([
  ['prot', 'port'],
  ['Port', 'port'],
  ['maxRedirects', 'max_redirects'],
  ['timeuot', 'timeout'],
  ['x', undefined],
  ['colour', undefined],
])('the known name nearest to %s is %s', (name, known) => {
  expect(nearest(name, ['port', 'max_redirects', 'timeout', 'host'])).toBe(known);
});
