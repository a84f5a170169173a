/**
 * The one error of the hub. Whatever fails anywhere becomes a HubError before it reaches a caller:
 * vendor errors are translated beside the vendor's adapter, everything unknown by `toHubError`.
 */

/** Error families of the response body (contract §3). */
export type HubErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'upstream_error'
  | 'server_error';

/** Each stable code with its HTTP status and family. A code that is not listed does not compile. */
const CODES = {
  invalid_request: [400, 'invalid_request_error'],
  invalid_json: [400, 'invalid_request_error'],
  target_required: [400, 'invalid_request_error'],
  model_not_allowed: [400, 'invalid_request_error'],
  redirect_uri_mismatch: [400, 'invalid_request_error'],
  unauthorized: [401, 'authentication_error'],
  admin_unauthorized: [401, 'authentication_error'],
  no_authentication: [401, 'authentication_error'],
  token_expired: [401, 'authentication_error'],
  cross_site: [403, 'permission_error'],
  admin_forbidden: [403, 'permission_error'],
  insufficient_permissions: [403, 'permission_error'],
  not_found: [404, 'not_found_error'],
  target_not_found: [404, 'not_found_error'],
  server_not_found: [404, 'not_found_error'],
  tool_not_found: [404, 'not_found_error'],
  account_not_found: [404, 'not_found_error'],
  upload_not_found: [404, 'not_found_error'],
  session_not_found: [404, 'not_found_error'],
  proxy_not_found: [404, 'not_found_error'],
  model_not_found: [404, 'not_found_error'],
  not_supported: [404, 'not_found_error'],
  method_not_allowed: [405, 'invalid_request_error'],
  request_timeout: [408, 'timeout_error'],
  conflict: [409, 'invalid_request_error'],
  body_too_large: [413, 'invalid_request_error'],
  unsupported_media_type: [415, 'invalid_request_error'],
  idempotency_mismatch: [422, 'invalid_request_error'],
  rate_limited: [429, 'rate_limit_error'],
  quotaExceeded: [429, 'rate_limit_error'],
  uploadLimitExceeded: [429, 'rate_limit_error'],
  client_closed_request: [499, 'invalid_request_error'],
  internal_error: [500, 'server_error'],
  upstream_auth_failed: [502, 'upstream_error'],
  upstream_unavailable: [502, 'upstream_error'],
  upstream_bad_response: [502, 'upstream_error'],
  upstream_error: [502, 'upstream_error'],
  ailink_unavailable: [502, 'upstream_error'],
  oauth_failed: [502, 'upstream_error'],
  overloaded: [503, 'server_error'],
  shutting_down: [503, 'server_error'],
  identity_unavailable: [503, 'server_error'],
  session_store_unavailable: [503, 'server_error'],
  upstream_timeout: [504, 'timeout_error'],
  insufficient_storage: [507, 'server_error'],
} as const satisfies Record<string, readonly [number, HubErrorType]>;

export type HubErrorCode = keyof typeof CODES;

/** Whether a word from elsewhere (the companion's answer) is one of the hub's codes. */
export function isHubErrorCode(word: unknown): word is HubErrorCode {
  return typeof word === 'string' && Object.hasOwn(CODES, word);
}

/** What a caller may be told beside message and code. */
export interface HubErrorOptions {
  /** Name of the offending field, header or query parameter. */
  param?: string;
  /** Machine-readable facts that are safe for the caller. */
  details?: unknown;
  /** Further members of the `error` object, e.g. `target`, `reason`, `hint` of the video routes. */
  extra?: Record<string, unknown>;
  /** Response headers that belong to this failure, e.g. `Retry-After`. Names in lower case. */
  headers?: Record<string, string>;
  /** Overrides the code's status where the contract maps one code to two (oauth_failed is 400 or 502). */
  status?: number;
  /** What really happened; logged, never sent. */
  cause?: unknown;
}

/** A failure with a stable code, an HTTP status and a message that is safe to show to the caller. */
export class HubError extends Error {
  override readonly name = 'HubError';
  readonly code: HubErrorCode;
  readonly status: number;
  readonly type: HubErrorType;
  readonly param: string | undefined;
  readonly details: unknown;
  readonly extra: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: HubErrorCode, message: string, options: HubErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const [status, type] = CODES[code];
    this.code = code;
    this.status = options.status ?? status;
    this.type = options.status === 400 ? 'invalid_request_error' : type;
    this.param = options.param;
    this.details = options.details;
    this.extra = options.extra;
    this.headers = options.headers;
  }
}

/** The body of every error response (contract §3). */
export interface ErrorBody {
  error: { message: string; type: string; code: string; param?: string; details?: unknown };
}

/** Renders the body of an error response. A 500 says nothing about its cause. */
export function errorBody(error: HubError): ErrorBody {
  const body: ErrorBody['error'] = { message: error.message, type: error.type, code: error.code };
  if (error.param !== undefined) body.param = error.param;
  if (error.details !== undefined) body.details = error.details;
  return { error: error.extra === undefined ? body : { ...error.extra, ...body } };
}

/** The one funnel: a HubError stays what it is, everything else is an `internal_error` with its cause kept for the log. */
export function toHubError(error: unknown): HubError {
  if (error instanceof HubError) return error;
  return new HubError('internal_error', 'The hub failed to answer this request', { cause: error });
}
