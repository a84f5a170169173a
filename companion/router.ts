import type { InternalRoute } from '../lib/companion-client/internal-route.ts';
import { HubError } from '../lib/errors/hub-error.ts';

/**
 * Compiles internal routes into one look-up: exact paths by a map, then prefixes (`/x/*`), longest first.
 * The look-up throws HubError `not_found` or `method_not_allowed`.
 */
export function createInternalRouter(
  routes: readonly InternalRoute[],
): (method: string, path: string) => InternalRoute {
  const exact = new Map<string, Map<string, InternalRoute>>();
  const prefixes = new Map<string, Map<string, InternalRoute>>();
  for (const route of routes) {
    const isPrefix = route.path.endsWith('/*');
    const byPath = isPrefix ? prefixes : exact;
    const path = isPrefix ? route.path.slice(0, -1) : route.path;
    const byMethod = byPath.get(path) ?? new Map<string, InternalRoute>();
    if (byMethod.has(route.method)) throw new Error(`Two internal routes at ${route.method} ${route.path}`);
    byMethod.set(route.method, route);
    byPath.set(path, byMethod);
  }
  const longestFirst = [...prefixes].sort(([a], [b]) => b.length - a.length);

  return (method, path) => {
    const byMethod = exact.get(path) ?? longestFirst.find(([prefix]) => path.startsWith(prefix))?.[1];
    if (byMethod === undefined) throw new HubError('not_found', 'There is no such internal path');
    const route = byMethod.get(method);
    if (route !== undefined) return route;
    throw new HubError('method_not_allowed', 'This internal path knows other methods', {
      headers: { allow: [...byMethod.keys()].join(', ') },
    });
  };
}
