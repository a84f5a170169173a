import { BlockList, isIP } from 'node:net';

/** A name of RFC 9110 §5.1: what may stand as a header, cookie or method name. */
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/;

/** Parses an absolute URL of one of the schemes; undefined when it is none. */
export function parseUrl(text: string, schemes: readonly string[]): URL | undefined {
  if (/[\s\p{Cc}]/u.test(text)) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && schemes.includes(url.protocol) && url.hostname !== '' ? url : undefined;
}

/** Whether `text` is an IP address or a CIDR range, by Node's own rules. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    return false;
  }
}

/** Whether `name` may stand as a header name. */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** What keeps `value` from being a header value, or undefined. Node refuses the same when it is sent. */
export function headerValueFault(value: string): string | undefined {
  if (/[\r\n\0]/.test(value)) return 'must not hold a line break or NUL';
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    return 'must not hold control characters or characters past Latin-1';
  return undefined;
}

/** The string formats of the schema: each with its test and the words that follow "must be". */
export const FORMATS: Record<string, { test: (text: string) => boolean; expected: string }> = {
  'http-url': {
    test: (text) => parseUrl(text, ['http:', 'https:']) !== undefined,
    expected: 'an http:// or https:// address',
  },
  'redis-url': {
    test: (text) => parseUrl(text, ['redis:', 'rediss:']) !== undefined,
    expected: 'a redis:// or rediss:// address',
  },
  // Goes into file names and paths (contract §7).
  id: {
    test: (text) => /^[\w.-]+$/.test(text) && !text.includes('..') && text !== '.',
    expected: 'letters, digits, `_`, `.` and `-` without `..`',
  },
  // Travels in a header and beside `/` in a model name.
  'target-id': {
    test: (text) => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text),
    expected: 'printable ASCII without spaces at its ends',
  },
  'server-name': {
    test: (text) => /^[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?=[A-Za-z0-9.-]))*$/.test(text),
    expected: 'letters, digits, `.`, `-` and single `_` between them, starting with a letter or digit',
  },
  'header-token': {
    test: isHeaderName,
    expected: 'a name without spaces and separators',
  },
  host: {
    test: (text) => /^[\w.-]+$/.test(text) || isIP(text) !== 0,
    expected: 'an IP address or host name, without scheme and port',
  },
  'url-path': {
    test: (text) => /^(\/[\w.~-]+)+$/.test(text) && !/(^|\/)\.{1,2}(\/|$)/.test(text),
    expected: 'a path such as /health',
  },
  'docs-path': {
    test: (text) => /^\/?[\w.~-]+(\/[\w.~-]+)*\/?$/.test(text) && !/(^|\/)\.{1,2}(\/|$)/.test(text),
    expected: 'a path such as docs',
  },
};
