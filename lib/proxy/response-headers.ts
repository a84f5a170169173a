import type { ProxyConfig } from '../config/schema/hub.ts';
import { createResponseHeaderFilter } from '../http/forwarded-headers.ts';

export interface ResponseHeadersDeps {
  proxy: Pick<ProxyConfig, 'removeResponseHeaders'>;
  /** `auth.session.cookie.name`. */
  hubCookie: string;
}

/**
 * Compiles the response headers of a proxy (contract §9): raw, repeats kept; without what belongs to the connection
 * or to `removeResponseHeaders`, and without cookies that would take the place of the hub's own.
 */
export function createResponseHeaders({ proxy, hubCookie }: ResponseHeadersDeps) {
  const select = createResponseHeaderFilter({ drop: proxy.removeResponseHeaders });
  const keepsTrailer = !proxy.removeResponseHeaders.some((name) => name.toLowerCase() === 'trailer');

  /** @param raw names and values alternating, as they came */
  return (raw: readonly Buffer[]): string[] => {
    const flat: string[] = new Array(raw.length);
    let trailer: string | undefined;
    let setsCookie = false;
    for (let index = 0; index < raw.length; index += 1) {
      const text = (raw[index] as Buffer).toString('latin1');
      flat[index] = text;
      if (index % 2 === 1) continue;
      if (text.length === 10 && text.toLowerCase() === 'set-cookie') setsCookie = true;
      else if (text.length === 7 && text.toLowerCase() === 'trailer')
        trailer = raw[index + 1]?.toString('latin1');
    }
    const headers = select(flat);
    // Trailers do come through, and a reader may want to know which (RFC 9110 §6.6.2).
    if (trailer !== undefined && keepsTrailer) headers.push('trailer', trailer);
    return setsCookie ? withoutCookie(headers, hubCookie) : headers;
  };
}

function withoutCookie(headers: readonly string[], name: string): string[] {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const [header, value] = [headers[index] as string, headers[index + 1] as string];
    if (header.toLowerCase() !== 'set-cookie' || !names(value, name)) kept.push(header, value);
  }
  return kept;
}

/** Whether a browser would send this cookie back under `name`; a nameless `=name=value` looks just like it. */
function names(setCookie: string, name: string): boolean {
  const pair = (setCookie.split(';', 1)[0] ?? '').replace(/^[\s=]+/, '');
  return pair.split('=', 1)[0]?.trim() === name;
}

/**
 * Keeps shared caches from storing the hub's session cookie with an answer that the service lets them store
 * (RFC 9111 §3.5, §5.2.2.4).
 */
export function withPrivateCookie(headers: string[]): string[] {
  for (let index = 0; index < headers.length; index += 2) {
    const isCacheControl = headers[index]?.toLowerCase() === 'cache-control';
    if (!isCacheControl || !/\b(?:public|s-maxage|must-revalidate)\b/i.test(headers[index + 1] ?? ''))
      continue;
    headers.push('cache-control', 'no-cache="Set-Cookie"');
    break;
  }
  return headers;
}
