import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { ClientAddresses } from './client-ip.ts';

export interface OriginRules {
  /** The hub's own origin as this caller sees it, e.g. `https://hub.example.org`. */
  ownOrigin(request: IncomingMessage): string;
  /** Whether the caller reached the hub over TLS, its own or that of a trusted proxy. */
  isSecure(request: IncomingMessage): boolean;
  /** Whether an origin is one of `hub.cors.origins`. */
  isAllowed(origin: string): boolean;
  /** A page of another origin sent this request, and `hub.cors.origins` does not list it. */
  isCrossSite(request: IncomingMessage): boolean;
  /**
   * A page of the hub's own origin, or of a listed one, sent this request, and the browser says so. `*` lists
   * nobody here: what rests on a cookie must not be open to every page.
   */
  isOwnPage(request: IncomingMessage): boolean;
  /** Whether Host is a loopback name or `hub.publicUrl`'s: anything else on a loopback bind is DNS rebinding. */
  isLocalHost(request: IncomingMessage): boolean;
}

export interface OriginConfig {
  publicUrl?: string | undefined;
  corsOrigins: readonly string[];
  addresses: ClientAddresses;
}

/** Compiles the rules on Origin and Host (contract §2 `hub.publicUrl`, `hub.cors`, §4). */
export function createOriginRules({ publicUrl, corsOrigins, addresses }: OriginConfig): OriginRules {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl);
  const allowed = new Set(corsOrigins.map(normalizeOrigin));

  function isSecure(request: IncomingMessage): boolean {
    if ((request.socket as TLSSocket).encrypted === true) return true;
    return forwarded(request, 'x-forwarded-proto')?.toLowerCase() === 'https';
  }

  /** The last value of a forwarded header, the one that the trusted peer wrote. */
  function forwarded(request: IncomingMessage, name: string): string | undefined {
    const value = request.headers[name];
    if (value === undefined || !addresses.trustsPeer(request)) return undefined;
    return String(value).split(',').at(-1)?.trim();
  }

  function ownOrigin(request: IncomingMessage): string {
    if (publicOrigin !== undefined) return publicOrigin.origin;
    const host = forwarded(request, 'x-forwarded-host') ?? request.headers.host ?? '';
    return normalizeOrigin(`${isSecure(request) ? 'https' : 'http'}://${host}`);
  }

  function isOwn(request: IncomingMessage, origin: string): boolean {
    if (origin === ownOrigin(request)) return true;
    // Behind a public name, the machine's own name stays the hub's own too.
    const host = request.headers.host ?? '';
    return publicOrigin !== undefined && isLoopbackHost(host) && origin === normalizeOrigin(`http://${host}`);
  }

  function isAllowed(origin: string): boolean {
    return allowed.has(origin) || allowed.has('*');
  }

  return {
    ownOrigin,
    isSecure,
    isAllowed,
    isCrossSite(request) {
      const { origin } = request.headers;
      if (origin !== undefined) return !isAllowed(origin) && !isOwn(request, origin);
      // Without Origin (an image, a form's GET) only the browser's own word is left. A link may be followed.
      return (
        request.headers['sec-fetch-site'] === 'cross-site' && request.headers['sec-fetch-mode'] !== 'navigate'
      );
    },
    isOwnPage(request) {
      const { origin } = request.headers;
      if (origin !== undefined) return allowed.has(origin) || isOwn(request, origin);
      return request.headers['sec-fetch-site'] === 'same-origin';
    },
    isLocalHost(request) {
      const host = request.headers.host ?? '';
      return isLoopbackHost(host) || host.toLowerCase() === publicOrigin?.host;
    },
  };
}

const LOOPBACK =
  /^(?:(?:[\w-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:(?:127\.[\d.]+|7f[\da-f]{2}:[\da-f]{1,4})\])(?::\d+)?$/i;

/** Whether a bind address or Host header is this machine only. A port is ignored. */
export function isLoopbackHost(host: string): boolean {
  return host === '::1' || LOOPBACK.test(host);
}

/** An origin as browsers write it: lower case, default port left out. What is none stays as it is. */
function normalizeOrigin(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text;
}
