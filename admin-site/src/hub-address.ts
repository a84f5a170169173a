/**
 * Where the hub is: `?hub=` names it for a page on a static host; without it the hub is what served this page, under
 * a path prefix perhaps.
 */
export function hubAddress(
  location: Pick<Location, 'search' | 'origin' | 'pathname'>,
  ownPath: string,
): string {
  const named = new URLSearchParams(location.search).get('hub')?.trim();
  if (named && URL.canParse(named) && /^https?:/.test(named)) {
    const { origin, pathname } = new URL(named);
    return origin + pathname.replace(/\/+$/, '');
  }
  const end = location.pathname.lastIndexOf(ownPath);
  return location.origin + (end > 0 ? location.pathname.slice(0, end) : '');
}
