import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express } from 'express';

type Headers = OutgoingHttpHeaders | readonly OutgoingHttpHeader[];
type WriteHead = (
  this: ServerResponse,
  status: number,
  reason?: string | Headers,
  headers?: Headers,
) => ServerResponse;

/** Of these the hub's own stand beside a route's, they do not replace them. */
const ADDITIVE: ReadonlySet<string> = new Set(['set-cookie', 'vary']);

/** Headers that every response of the hub carries (contract §3). A route that sets one itself wins. */
export function securityHeaders(tls: boolean): readonly [name: string, value: string][] {
  const headers: [string, string][] = [
    ['x-content-type-options', 'nosniff'],
    ['content-security-policy', "frame-ancestors 'none'"],
    ['referrer-policy', 'no-referrer'],
  ];
  if (tls) headers.push(['strict-transport-security', 'max-age=31536000']);
  return headers;
}

/**
 * Teaches the app's responses to add the hub's own headers at the moment the head is written. Until then they cost
 * nothing, a relay may pass raw headers with repeated names (Node's own `writeHead` keeps only the last of them
 * once any header was set before), and no route can forget them.
 *
 * @param common headers of every response, names in lower case
 * @param own    headers of this response, names in lower case, e.g. its request id and CORS; they win over a route's
 */
export function installResponseHead(
  app: Express,
  common: readonly (readonly [string, string])[],
  own: (response: ServerResponse) => readonly string[],
): void {
  const commonNames = new Set(common.map(([name]) => name));
  const commonFlat = common.flat();
  const parent: WriteHead = Object.getPrototypeOf(app.response).writeHead;

  const writeHead: WriteHead = function writeHead(status, reason, headers) {
    const message = typeof reason === 'string' ? reason : undefined;
    const given = flatten(typeof reason === 'string' ? headers : (headers ?? reason));
    const mine = own(this);
    const write = (all?: OutgoingHttpHeader[]) =>
      message === undefined ? parent.call(this, status, all) : parent.call(this, status, message, all);

    // Only a real socket takes a raw head: serverless-http reads the headers back from the response object.
    if (this.socket instanceof Socket && this.getHeaderNames().length === 0) {
      return write(mergeRaw(given, mine));
    }
    setAll(this, given);
    for (let i = 0; i < mine.length; i += 2) {
      const [name, value] = [mine[i] as string, mine[i + 1] as string];
      if (ADDITIVE.has(name)) this.appendHeader(name, value);
      else this.setHeader(name, value);
    }
    for (const [name, value] of common) if (!this.hasHeader(name)) this.setHeader(name, value);
    return write();
  };

  function mergeRaw(given: readonly OutgoingHttpHeader[], mine: readonly string[]): OutgoingHttpHeader[] {
    const merged: OutgoingHttpHeader[] = [];
    let replaced: Set<string> | undefined;
    for (let i = 0; i < given.length; i += 2) {
      const name = String(given[i]).toLowerCase();
      if (isNameIn(mine, name) && !ADDITIVE.has(name)) continue;
      if (commonNames.has(name)) {
        replaced ??= new Set();
        replaced.add(name);
      }
      merged.push(given[i] as OutgoingHttpHeader, given[i + 1] as OutgoingHttpHeader);
    }
    merged.push(...mine);
    if (replaced === undefined) merged.push(...commonFlat);
    else for (const [name, value] of common) if (!replaced.has(name)) merged.push(name, value);
    return merged;
  }

  app.response.writeHead = writeHead as typeof app.response.writeHead;
}

/** Whether a flat list names `name`; its values must not count, because a caller chooses some of them. */
function isNameIn(flat: readonly string[], name: string): boolean {
  for (let i = 0; i < flat.length; i += 2) if (flat[i] === name) return true;
  return false;
}

/** Headers as one flat list of names and values. */
function flatten(headers: Headers | undefined): readonly OutgoingHttpHeader[] {
  if (headers === undefined) return [];
  if (Array.isArray(headers)) return headers;
  const flat: OutgoingHttpHeader[] = [];
  for (const [name, value] of Object.entries(headers as OutgoingHttpHeaders)) {
    if (value !== undefined) flat.push(name, value);
  }
  return flat;
}

/** Sets a flat list on the response: it replaces what was set before, and keeps its own repeated names. */
function setAll(response: ServerResponse, flat: readonly OutgoingHttpHeader[]): void {
  for (let i = 0; i < flat.length; i += 2) response.removeHeader(String(flat[i]));
  for (let i = 0; i < flat.length; i += 2) {
    const value = flat[i + 1] as OutgoingHttpHeader;
    response.appendHeader(String(flat[i]), typeof value === 'number' ? String(value) : value);
  }
}
