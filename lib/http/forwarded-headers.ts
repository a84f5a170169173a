import type { IncomingMessage } from 'node:http';

/** Headers that belong to one connection (RFC 9110 §7.6.1), never passed on in either direction. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** What a caller gives to the hub alone (contract §3), and what only the hub itself may say inside. */
const FOR_THE_HUB = [
  'authorization',
  'cookie',
  'x-admin-key',
  'x-target',
  'x-ailink-token',
  'x-hub-caller',
  'host',
  'expect',
];

/** Upstream headers that the hub answers for itself. */
const BY_THE_HUB = ['x-request-id', 'x-powered-by'];

/** Selects raw headers: flat lists of names and values as they were written, repeats kept. */
export type HeaderFilter = (raw: readonly string[]) => string[];

/**
 * Compiles the selection of request headers that may leave the hub.
 * @param options.drop further names, e.g. a proxy's `removeHeaders`
 * @param options.keep names that may leave after all, e.g. `authorization` on a proxy with `auth: false`
 */
export function createRequestHeaderFilter(
  options: { drop?: readonly string[]; keep?: readonly string[] } = {},
): HeaderFilter {
  const { drop = [], keep = [] } = options;
  return createFilter([...FOR_THE_HUB.filter((name) => !keep.includes(name)), ...drop]);
}

/** Compiles the selection of upstream response headers that may reach the caller. */
export function createResponseHeaderFilter(options: { drop?: readonly string[] } = {}): HeaderFilter {
  return createFilter([...BY_THE_HUB, ...(options.drop ?? [])]);
}

/** The cookies of a request without the one named `hubCookie`; undefined when none is left. */
export function foreignCookies({ headers }: IncomingMessage, hubCookie: string): string | undefined {
  const kept = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && pair.split('=', 1)[0]?.trim() !== hubCookie);
  return kept.length === 0 ? undefined : kept.join('; ');
}

function createFilter(names: readonly string[]): HeaderFilter {
  const dropped = new Set([...HOP_BY_HOP, ...names].map((name) => name.toLowerCase()));
  return (raw) => {
    const named = namedByConnection(raw);
    const kept: string[] = [];
    for (let i = 0; i < raw.length; i += 2) {
      const name = raw[i] as string;
      const lower = name.toLowerCase();
      if (!dropped.has(lower) && !named?.has(lower)) kept.push(name, raw[i + 1] as string);
    }
    return kept;
  };
}

/** `Connection: x, y` makes x and y hop-by-hop too. */
function namedByConnection(raw: readonly string[]): Set<string> | undefined {
  let named: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== 10 || raw[i]?.toLowerCase() !== 'connection') continue;
    named ??= new Set();
    for (const name of (raw[i + 1] as string).split(',')) named.add(name.trim().toLowerCase());
  }
  return named;
}
