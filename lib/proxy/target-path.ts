import { HubError } from '../errors/hub-error.ts';

/** A request target under `/proxy`, taken apart. Everything stays as it was written. */
export interface ProxyTarget {
  /** Value of `x-target`, else the first path segment after `/proxy`, decoded; undefined where there is neither. */
  id: string | undefined;
  /** What is put behind the configured base path: empty, or a path from its slash on. */
  rest: string;
  /** From its question mark on; empty where there is none. */
  query: string;
}

/** Reads which proxy a request means, and which path on it (contract §9). */
export function readProxyTarget(target: string, xTarget: string | undefined): ProxyTarget {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  const slash = path.indexOf('/', 1);
  const behind = slash === -1 ? '' : path.slice(slash);
  if (xTarget !== undefined) return { id: xTarget, rest: behind, query };
  const end = behind.indexOf('/', 1);
  const segment = behind.slice(1, end === -1 ? undefined : end);
  return {
    id: segment === '' ? undefined : decoded(segment),
    rest: end === -1 ? '' : behind.slice(end),
    query,
  };
}

/** Times that a service may decode a path before it uses it. */
const DECODING_ROUNDS = 3;
/** A `..` between separators, as strict and as lenient readers see them (`..;x` is `..` to some Java servers). */
const PARENT = /(?:^|[\\/])\s*\.\.\s*(?:[\\/;]|$)/;

/**
 * Refuses a path that might leave its base: one in which any reader could find a parent segment, however encoded,
 * a NUL, a raw backslash or a fragment.
 * @throws HubError `invalid_request`
 */
export function checkRest(rest: string): void {
  // Nearly every path: nothing in it is encoded, and nothing could be a parent.
  if (!/[%\\#]|\.\.|[^\x21-\x7e]/.test(rest)) return;
  if (/[\\#]/.test(rest) || mayLeave(rest)) {
    throw new HubError('invalid_request', 'The path holds a segment that could leave the base of the proxy');
  }
}

function mayLeave(path: string): boolean {
  let text = path;
  for (let round = 0; round <= DECODING_ROUNDS; round += 1) {
    if (PARENT.test(text.normalize('NFKC')) || text.includes('\0')) return true;
    const next = decoded(text);
    if (next === text) return false;
    text = next;
  }
  // Encoded so often that nobody means well.
  return true;
}

/** Undoes one percent-encoding; what is not valid stays as it is. */
function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%([0-7][0-9a-f])/gi, (_match, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
}
