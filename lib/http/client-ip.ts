import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { compileNetworks } from '../auth/networks.ts';

/** Who a request comes from, seen through the proxies that `hub.security.trustProxy` names (contract §4). */
export interface ClientAddresses {
  /** The client's address in its plain form, `unknown` where the connection has none. */
  clientIp(request: IncomingMessage): string;
  /** Whether the direct peer's `X-Forwarded-*` headers may be believed. */
  trustsPeer(request: IncomingMessage): boolean;
}

const MOST_REMEMBERED = 1000;

type IsTrusted = (address: string) => boolean;

/**
 * Compiles `trustProxy` once: `true` believes the direct peer only, a text is a comma-separated list of addresses
 * and CIDR ranges, walked from the right to the first untrusted entry.
 */
export function createClientAddresses(trustProxy: boolean | string): ClientAddresses {
  if (trustProxy === false) {
    return { clientIp: peerAddress, trustsPeer: () => false };
  }
  if (trustProxy === true) {
    return {
      clientIp: (request) => walk(request, (_address, hop) => hop === 0),
      trustsPeer: () => true,
    };
  }
  const isTrusted = compileTrust(trustProxy);
  return {
    clientIp: (request) => walk(request, isTrusted),
    trustsPeer: (request) => isTrusted(peerAddress(request)),
  };
}

/** The direct peer's address. */
export function peerAddress(request: IncomingMessage): string {
  const address = request.socket.remoteAddress;
  return address === undefined || address === '' ? 'unknown' : plainAddress(address);
}

/** `::ffff:10.0.0.1` is 10.0.0.1. */
function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}

/** Follows X-Forwarded-For from the right, as long as whoever wrote an entry is trusted. */
function walk(request: IncomingMessage, isTrusted: (address: string, hop: number) => boolean): string {
  let client = peerAddress(request);
  const header = request.headers['x-forwarded-for'];
  if (header === undefined) return client;
  const entries = String(header).split(',');
  for (let hop = 0; hop < entries.length && isTrusted(client, hop); hop += 1) {
    const entry = parseEntry(entries[entries.length - 1 - hop] ?? '');
    if (entry === undefined) return client;
    client = entry;
  }
  return client;
}

/** One X-Forwarded-For entry: an address, perhaps with a port as some load balancers write it. */
function parseEntry(text: string): string | undefined {
  const entry = text.trim();
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(entry)?.[1] ?? /^([\d.]+):\d+$/.exec(entry)?.[1] ?? entry;
  return isIP(address) === 0 ? undefined : plainAddress(address);
}

/** @throws Error naming an entry that is neither an address nor a range. */
function compileTrust(list: string): IsTrusted {
  const entries = list.split(',').filter((entry) => entry.trim() !== '');
  // To the networks an empty list means everybody, to whoever lists proxies nobody.
  return entries.length === 0 ? () => false : remember(compileNetworks(entries));
}

/** A look into the networks takes microseconds; the same few proxies ask again and again. */
function remember(isTrusted: IsTrusted): IsTrusted {
  const known = new Map<string, boolean>();
  return (address) => {
    let answer = known.get(address);
    if (answer === undefined) {
      if (known.size >= MOST_REMEMBERED) known.clear();
      answer = isTrusted(address);
      known.set(address, answer);
    }
    return answer;
  };
}
