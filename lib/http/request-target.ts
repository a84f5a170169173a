/**
 * Reading a request target. One place decides what the path is, for routing, authentication and the log alike, so
 * that no spelling of a path means one thing to one of them and another to the next.
 */

/** Splits a request target; the origin of an absolute-form target (RFC 9112 §3.2.2) is cut off. */
export function originForm(target: string): string {
  if (target.charCodeAt(0) === 47 /* / */ || target === '*') return target;
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target);
  const rest = absolute === null ? target : target.slice(absolute[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The path of an origin-form target: without query and fragment. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  const fragment = path.indexOf('#');
  return fragment === -1 ? path : path.slice(0, fragment);
}

/** The decoded segments of a path, a trailing slash ignored; undefined when its percent-encoding is malformed. */
export function segmentsOf(path: string): string[] | undefined {
  const segments = path.split('/').slice(1);
  if (segments.at(-1) === '') segments.pop();
  if (!path.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/**
 * The forms under which a path that no route knows is compared with protected prefixes: as written, and with every
 * trick undone that a lenient reader might undo (encoding, case, backslashes, repeated slashes, dot segments).
 */
export function suspectForms(path: string): string[] {
  const decoded = path
    .replace(/%([0-9a-f]{2})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .toLowerCase()
    .replace(/[\\/]+/g, '/');
  const resolved: string[] = [];
  for (const segment of decoded.split('/')) {
    if (segment === '..') resolved.pop();
    else if (segment !== '.' && segment !== '') resolved.push(segment);
  }
  return [decoded, `/${resolved.join('/')}`];
}
