import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { HubError } from '../errors/hub-error.ts';

/** Silence after which a body counts as abandoned, and the longest a JSON body may take, in ms. */
const IDLE_TIMEOUT = 30_000;
const TOTAL_TIMEOUT = 300_000;

const EMPTY = Buffer.alloc(0);

/** What a body is read from: node:http's request, or one whose body came with it whole. */
export interface BodySource {
  readonly headers: IncomingHttpHeaders;
  /** The body is all there: `read()` gives it. */
  readonly complete: boolean;
  readonly readableLength: number;
  read(): unknown;
  pause(): unknown;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'end' | 'close', listener: () => void): unknown;
}

export interface BodyOptions {
  /** Largest body in bytes (`hub.limits.jsonBody`). */
  limit: number;
  /** Milliseconds without a byte; default 30,000. */
  idleTimeout?: number;
  /** Milliseconds for the whole body; default 300,000. */
  totalTimeout?: number;
}

/** Whether a body is announced: by a length other than zero or by chunks (RFC 9112 §6). */
export function hasBody({ headers }: Pick<BodySource, 'headers'>): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

/**
 * The raw body of a JSON request, checked for content type, encoding and size; empty when there is none. A body
 * that came in one piece, as most do, is returned without a copy.
 * @throws HubError `unsupported_media_type`, `body_too_large`, `request_timeout` or `client_closed_request`.
 */
export function readJsonBody(request: BodySource, options: BodyOptions): Promise<Buffer> {
  if (!hasBody(request)) return Promise.resolve(EMPTY);
  const fault = jsonTypeFault(request);
  return fault === undefined ? readBody(request, options) : Promise.reject(fault);
}

/**
 * The raw body of a request, whatever its type.
 * @throws HubError `unsupported_media_type` (a Content-Encoding), `body_too_large`, `request_timeout` or
 *   `client_closed_request`.
 */
export function readBody(request: BodySource, options: BodyOptions): Promise<Buffer> {
  const { limit } = options;
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return Promise.reject(
      new HubError('unsupported_media_type', 'A request body with a Content-Encoding is not supported', {
        param: 'content-encoding',
      }),
    );
  }
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limit) return Promise.reject(tooLarge(limit));
  const isThere = request.complete || (announced > 0 && request.readableLength === announced);
  return isThere ? taken(request, limit) : collect(request, options, announced);
}

/** A body that came with its head is all there already: it costs neither listeners nor a timer. */
function taken(request: BodySource, limit: number): Promise<Buffer> {
  if (request.readableLength > limit) return Promise.reject(tooLarge(limit));
  return Promise.resolve((request.read() as Buffer | null) ?? EMPTY);
}

/**
 * Parses a JSON body.
 * @throws HubError `invalid_json` when it is not JSON in UTF-8.
 */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new HubError('invalid_json', 'The body is not valid UTF-8');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new HubError('invalid_json', 'The body is not valid JSON');
  }
}

/**
 * Reads and parses a JSON object; `{}` when there is no body.
 * @throws HubError like `readJsonBody` and `parseJson`, and `invalid_request` when it is not an object.
 */
export async function readJsonObject(
  request: BodySource,
  options: BodyOptions,
): Promise<Record<string, unknown>> {
  const body = await readJsonBody(request, options);
  if (body.length === 0) return {};
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HubError('invalid_request', 'The body must be a JSON object');
  }
  return value as Record<string, unknown>;
}

const JSON_TYPE = /^application\/(?:json|[\w.!#$&^-]+\+json)\s*(?:;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;
const OUR_CHARSET = /^(?:utf-?8|us-ascii)$/i;

function jsonTypeFault({ headers }: Pick<BodySource, 'headers'>): HubError | undefined {
  const type = headers['content-type'] ?? '';
  if (type === 'application/json') return undefined;
  const charset = CHARSET.exec(type)?.[1] ?? 'utf-8';
  if (JSON_TYPE.test(type) && OUR_CHARSET.test(charset)) return undefined;
  return new HubError('unsupported_media_type', 'The content type must be application/json in UTF-8', {
    param: 'content-type',
  });
}

function tooLarge(limit: number): HubError {
  return new HubError('body_too_large', `The body is larger than ${limit} bytes`, { details: { limit } });
}

function collect(request: BodySource, options: BodyOptions, announced: number): Promise<Buffer> {
  const { limit, idleTimeout = IDLE_TIMEOUT, totalTimeout = TOTAL_TIMEOUT } = options;
  return new Promise((resolve, reject) => {
    const deadline = performance.now() + totalTimeout;
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    let size = 0;
    const timer = setTimeout(() => {
      settle();
      reject(new HubError('request_timeout', 'The body did not arrive in time'));
    }, idleTimeout);

    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit || performance.now() > deadline) {
        settle();
        request.pause();
        reject(size > limit ? tooLarge(limit) : new HubError('request_timeout', 'The body took too long'));
        return;
      }
      if (first === undefined) {
        first = chunk;
        if (size === announced) return;
      } else {
        rest ??= [];
        rest.push(chunk);
      }
      timer.refresh();
    };
    const onEnd = () => {
      settle();
      if (first === undefined) resolve(EMPTY);
      else resolve(rest === undefined ? first : Buffer.concat([first, ...rest], size));
    };
    // Without an `error` listener a caller's departure is only a `close`.
    const onClose = () => {
      settle();
      reject(new HubError('client_closed_request', 'The caller left while sending the body'));
    };
    const settle = () => {
      clearTimeout(timer);
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('close', onClose);
    };
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
  });
}
