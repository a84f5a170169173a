import type { IncomingMessage } from 'node:http';
import type { OriginRules } from './origin.ts';

/** Headers of the hub that a page may read. */
const EXPOSED = [
  'x-request-id',
  'x-hub-target',
  'x-hub-overhead-ms',
  'x-should-retry',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'location',
  'mcp-session-id',
].join(', ');

const HEADER_LIST = /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/;

/** CORS for `hub.cors.origins` (Fetch standard §3.3). Header lists are flat: name, value, name, value. */
export interface Cors {
  /** Headers of every response to this request. */
  headers(request: IncomingMessage): readonly string[];
  /** Headers of the answer to a preflight, undefined when the request is none or its origin is not listed. */
  preflight(request: IncomingMessage, allow: string): readonly string[] | undefined;
}

/** Undefined when no origin is listed: then no request costs anything. */
export function createCors(origins: readonly string[], rules: OriginRules): Cors | undefined {
  if (origins.length === 0) return undefined;
  const any = origins.includes('*');

  function grant(request: IncomingMessage): string[] | undefined {
    const { origin } = request.headers;
    if (origin === undefined || !rules.isAllowed(origin)) return undefined;
    // With `*` any page may read, so none may bring the caller's cookie.
    return any
      ? ['access-control-allow-origin', '*']
      : ['access-control-allow-origin', origin, 'access-control-allow-credentials', 'true'];
  }

  return {
    headers(request) {
      const granted = grant(request);
      if (granted === undefined) return ['vary', 'Origin'];
      return [...granted, 'access-control-expose-headers', EXPOSED, 'vary', 'Origin'];
    },
    preflight(request, allow) {
      const asked = request.headers['access-control-request-method'];
      if (asked === undefined || grant(request) === undefined) return undefined;
      const headers = ['access-control-allow-methods', allow, 'access-control-max-age', '600'];
      const names = request.headers['access-control-request-headers'];
      if (typeof names === 'string' && HEADER_LIST.test(names)) {
        headers.push('access-control-allow-headers', names);
      }
      return headers;
    },
  };
}
