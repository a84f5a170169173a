import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { RouteHandler } from './route.ts';

export interface PageOptions {
  /** CSP sources that the page may call, beside none: default the hub itself. */
  connect?: string;
}

/**
 * Serves a page that holds its scripts and styles in itself. Its CSP names them by their hashes, computed here once,
 * and allows nothing else: a text that became markup would run nothing and load nothing.
 */
export function createPage(html: string, { connect = "'self'" }: PageOptions = {}): RouteHandler {
  const policy = [
    "default-src 'none'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    `connect-src ${connect}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const plain = Buffer.from(html);
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    // Asked for again each time, answered by 304 until the hub is another.
    'cache-control': 'no-cache',
    vary: 'Accept-Encoding',
    etag,
  };
  let zipped: Buffer | undefined;

  return (request, response) => {
    if (request.headers['if-none-match']?.includes(etag)) {
      response.writeHead(304, headers);
      response.end();
      return;
    }
    const isZipped = request.acceptsEncodings('gzip', 'identity') === 'gzip';
    if (isZipped) zipped ??= gzipSync(plain, { level: 9 });
    const body = isZipped && zipped !== undefined ? zipped : plain;
    response.writeHead(200, {
      ...headers,
      'content-length': body.length,
      ...(isZipped && { 'content-encoding': 'gzip' }),
    });
    response.end(body);
  };
}

/** CSP sources of the inline elements of one name, `'none'` when there are none. */
function hashesOf(html: string, name: 'script' | 'style'): string {
  const elements = html.matchAll(new RegExp(`<${name}[^>]*>([^]*?)</${name}>`, 'g'));
  const hashes = [...elements].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  return hashes.length === 0 ? "'none'" : hashes.join(' ');
}
