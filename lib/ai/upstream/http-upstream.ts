import { createHttpConnections, type HttpConnections } from '../../http-client/http-connections.ts';
import { type OutboundProxy, outboundProxyFor } from '../../http-client/outbound-proxy.ts';
import { HttpExchange } from './http-exchange.ts';
import type { Upstream } from './upstream.ts';

export interface HttpUpstreamOptions {
  /** Redirects followed at most; 0 never follows. */
  maxRedirects: number;
  outboundProxy: OutboundProxy;
  /** ms */
  connectTimeout: number;
}

/** The longest time that a provider may take to accept a connection (contract §2). */
export const LONGEST_CONNECT_MS = 10_000;

/**
 * Creates the connections to one provider: its own, direct or through the environment's proxy, which is decided here
 * once. The clocks of calls belong to their callers.
 *
 * @param baseUrl its path is put in front of every call's path.
 */
export function createHttpUpstream(baseUrl: URL, options: HttpUpstreamOptions): Upstream {
  const { connectTimeout } = options;
  const basePath = baseUrl.pathname.replace(/\/+$/, '');

  function connectionsOf(origin: URL): HttpConnections {
    const proxy = outboundProxyFor(origin, options.outboundProxy);
    return createHttpConnections({
      origin,
      proxy: proxy === undefined ? undefined : new URL(proxy),
      connectTimeout,
    });
  }

  const home = connectionsOf(baseUrl);
  // Other origins are met only in redirects.
  const elsewhere = new Map<string, HttpConnections>();
  function connectionsTo(origin: string): HttpConnections {
    if (origin === baseUrl.origin) return home;
    let connections = elsewhere.get(origin);
    if (connections === undefined) {
      connections = connectionsOf(new URL(origin));
      elsewhere.set(origin, connections);
    }
    return connections;
  }

  const route = { origin: baseUrl.origin, basePath, maxRedirects: options.maxRedirects, connectionsTo };
  return {
    send: (call, handler) => new HttpExchange(route, call, handler),
    async close() {
      for (const connections of [home, ...elsewhere.values()]) connections.close();
    },
  };
}
