import { expect, test } from '@jest/globals';
import { outboundProxyFor } from '../../../lib/http-client/outbound-proxy.ts';

const proxy = { http: 'http://h', https: 'http://s', no: undefined };

test.each<[string, string | undefined, string | undefined]>([
  ['https://api.example.com', undefined, 'http://s'],
  ['http://api.example.com', undefined, 'http://h'],
  ['https://api.example.com', '*', undefined],
  ['https://api.example.com', 'example.com', undefined],
  ['https://api.example.com', '.example.com', undefined],
  ['https://api.example.com', '*.example.com', undefined],
  ['https://api.example.com', 'API.EXAMPLE.COM', undefined],
  ['https://api.example.com', 'other.com, api.example.com', undefined],
  ['https://api.example.com', 'ample.com', 'http://s'],
  ['https://api.example.com', 'example.com.evil', 'http://s'],
  ['https://api.example.com', 'example.com:443', undefined],
  ['https://api.example.com', 'example.com:8443', 'http://s'],
  ['http://127.0.0.1:8080', '127.0.0.1:8080', undefined],
  ['http://[::1]:8080', '[::1]', undefined],
  ['http://[::1]:8080', '::1', undefined],
  ['http://localhost', '', 'http://h'],
])('%s with NO_PROXY %s goes through %s', (origin, no, expected) => {
  expect(outboundProxyFor(new URL(origin), { ...proxy, no })).toBe(expected);
});

test('HTTPS falls back to HTTP_PROXY, and without both there is none', () => {
  expect(outboundProxyFor(new URL('https://x.y'), { ...proxy, https: undefined })).toBe('http://h');
  expect(
    outboundProxyFor(new URL('https://x.y'), { http: undefined, https: '', no: undefined }),
  ).toBeUndefined();
});
