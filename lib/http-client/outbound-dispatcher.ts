import { Agent, Pool, ProxyAgent } from 'undici';
import { type OutboundProxy, outboundProxyFor } from './outbound-proxy.ts';

/**
 * Connections of undici to whatever origins, each direct or through the environment's proxy: tunnelled to `https:`
 * (RFC 9110 §9.3.6), handed to the proxy whole to `http:` (RFC 9112 §3.2.2).
 * @param options of the connections to each origin
 */
export function createOutboundDispatcher(proxy: OutboundProxy, options: Pool.Options): Agent {
  return new Agent({
    ...options,
    factory(origin) {
      const url = new URL(origin);
      const uri = outboundProxyFor(url, proxy);
      if (uri === undefined) return new Pool(url, options);
      const { connect: tls, ...rest } = options;
      const connecting = typeof tls === 'object' && { proxyTls: tls, requestTls: tls };
      return new ProxyAgent({ ...rest, ...connecting, uri, proxyTunnel: url.protocol === 'https:' });
    },
  });
}
