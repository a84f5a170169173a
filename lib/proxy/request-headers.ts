import type { ProxyConfig } from '../config/schema/hub.ts';
import { type ClientAddresses, peerAddress } from '../http/client-ip.ts';
import { createRequestHeaderFilter, foreignCookies } from '../http/forwarded-headers.ts';
import type { OriginRules } from '../http/origin.ts';
import type { HubRequest } from '../http/request-context.ts';

/** What proxies tell each other about a client. A stranger's word is worth nothing. */
const FORWARDED = [
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-forwarded-prefix',
  'x-real-ip',
  'forwarded',
];
/** Of these the hub's own word stands beside or instead of a trusted proxy's. */
const OWN = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'];

export interface RequestHeadersDeps {
  proxy: Pick<ProxyConfig, 'auth' | 'headers' | 'removeHeaders'>;
  addresses: ClientAddresses;
  origins: Pick<OriginRules, 'isSecure'>;
  /** `auth.session.cookie.name`. */
  hubCookie: string;
}

/**
 * Compiles the request headers of a proxy (contract §9): raw, repeats kept; without what belongs to the connection,
 * to the hub or to `removeHeaders`; with `X-Forwarded-*`, the request id and the configured headers, which replace
 * a caller's.
 */
export function createRequestHeaders(deps: RequestHeadersDeps): (request: HubRequest) => string[] {
  const { proxy, addresses, origins, hubCookie } = deps;
  const removed = new Set(proxy.removeHeaders.map((name) => name.toLowerCase()));
  const configured = Object.entries(proxy.headers).flat();
  const drop = [...removed, ...Object.keys(proxy.headers), 'x-request-id'];
  const keep = proxy.auth ? [] : ['authorization'];
  const ofStranger = createRequestHeaderFilter({ drop: [...drop, ...FORWARDED], keep });
  const ofTrusted = createRequestHeaderFilter({ drop: [...drop, ...OWN], keep });
  const isFixed = new Set([...removed, ...Object.keys(proxy.headers).map((name) => name.toLowerCase())]);
  const passesCookies = !proxy.auth && !isFixed.has('cookie');

  return (request) => {
    const { headers: given, rawHeaders } = request;
    const isTrusted = addresses.trustsPeer(request);
    const headers = (isTrusted ? ofTrusted : ofStranger)(rawHeaders);
    const add = (name: string, value: string | undefined) => {
      if (value !== undefined && !isFixed.has(name)) headers.push(name, value);
    };
    const before = isTrusted ? given['x-forwarded-for'] : undefined;
    const peer = peerAddress(request);
    add('x-forwarded-for', before === undefined ? peer : `${before}, ${peer}`);
    add('x-forwarded-proto', origins.isSecure(request) ? 'https' : 'http');
    const hostBefore = isTrusted ? given['x-forwarded-host'] : undefined;
    add('x-forwarded-host', hostBefore === undefined ? given.host : String(hostBefore));
    add('x-request-id', request.hub.id);
    // Trailers come through (RFC 9110 §10.1.4), so that whoever can take them may say so.
    if (given.te !== undefined && /\btrailers\b/i.test(String(given.te))) add('te', 'trailers');
    if (passesCookies) add('cookie', foreignCookies(request, hubCookie));
    headers.push(...configured);
    return headers;
  };
}
