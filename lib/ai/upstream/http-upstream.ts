import { Agent, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { HttpExchange } from './http-exchange.ts';
import { type OutboundProxy, outboundProxyFor } from './outbound-proxy.ts';
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

/** Idle connections are kept this long, unless the provider's `Keep-Alive` says less. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Creates the connections to one provider: a pool of its own, direct or through the environment's proxy, which is
 * decided here once. The clocks of calls belong to their callers, so undici's are off.
 *
 * @param baseUrl its path is put in front of every call's path.
 */
export function createHttpUpstream(baseUrl: URL, options: HttpUpstreamOptions): Upstream {
  const { connectTimeout } = options;
  const basePath = baseUrl.pathname.replace(/\/+$/, '');
  const poolOptions = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeout },
  };
  const proxy = outboundProxyFor(baseUrl, options.outboundProxy);
  const home: Dispatcher =
    proxy === undefined
      ? new Pool(baseUrl.origin, poolOptions)
      : new ProxyAgent({ ...poolOptions, uri: proxy, proxyTunnel: false });

  // Other origins are met only in redirects.
  const elsewhere = new Map<string | undefined, Dispatcher>();
  function dispatcherFor(origin: string): Dispatcher {
    if (origin === baseUrl.origin) return home;
    const through = outboundProxyFor(new URL(origin), options.outboundProxy);
    let dispatcher = elsewhere.get(through);
    if (dispatcher === undefined) {
      dispatcher =
        through === undefined
          ? new Agent(poolOptions)
          : new ProxyAgent({ ...poolOptions, uri: through, proxyTunnel: false });
      elsewhere.set(through, dispatcher);
    }
    return dispatcher;
  }

  const route = {
    origin: baseUrl.origin,
    basePath,
    maxRedirects: options.maxRedirects,
    connectTimeout,
    dispatcherFor,
  };
  return {
    send: (call, handler) => new HttpExchange(route, call, handler),
    async close() {
      await Promise.all([home, ...elsewhere.values()].map((dispatcher) => dispatcher.destroy()));
    },
  };
}
