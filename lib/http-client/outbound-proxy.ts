import type { Environment } from '../config/loaded.ts';
import { portOf } from './dial.ts';

export type OutboundProxy = Environment['outboundProxy'];

/**
 * The address of the forward proxy for an origin, or undefined for a direct connection. NO_PROXY is a list of host
 * names (with or without a leading dot, covering their subdomains), each with an optional port, or `*`.
 */
export function outboundProxyFor(origin: URL, proxy: OutboundProxy): string | undefined {
  const address = origin.protocol === 'https:' ? (proxy.https ?? proxy.http) : proxy.http;
  if (address === undefined || address === '') return undefined;
  const host = origin.hostname.toLowerCase();
  const port = String(portOf(origin));
  const exempt = (proxy.no ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const match = /^(.*?)(?::(\d+))?$/.exec(
        entry.startsWith('[') || !/:.*:/.test(entry) ? entry : `[${entry}]`,
      );
      const name = (match?.[1] ?? '').replace(/^\*?\./, '');
      if (match?.[2] !== undefined && match[2] !== port) return false;
      return host === name || host.endsWith(`.${name}`);
    });
  return exempt ? undefined : address;
}
