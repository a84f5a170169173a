/** Families of errors by status, as OpenAI names them. */
const TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
  413: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
};

/** An error body in OpenAI's shape. */
export function errorObject(status: number, message: string, code: string | null): object {
  return { message, type: TYPES[status] ?? 'upstream_error', param: null, code };
}

export function errorBytes(status: number, message: string, code: string | null): Buffer {
  return Buffer.from(JSON.stringify({ error: errorObject(status, message, code) }));
}
