import { HubError } from '../errors/hub-error.ts';

const TIMEOUTS = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);
/** What a connection gives that its other end closed while a request was on its way. */
const STALE = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

const codeOf = (error: Error): string => String((error as { code?: unknown }).code ?? '');

/** Whether a request that changes nothing may be sent once more, on a fresh connection. */
export function isStale(error: Error): boolean {
  return STALE.has(codeOf(error));
}

/** What a failed exchange with a service is to the caller (contract §9). The cause is for the log only. */
export function proxyFailure(error: Error): HubError {
  if (error instanceof HubError) return error;
  const code = codeOf(error);
  if (TIMEOUTS.has(code)) {
    return new HubError('upstream_timeout', 'The service did not answer in time', { cause: error });
  }
  if (code === 'UND_ERR_INVALID_ARG') {
    return new HubError('invalid_request', 'This request cannot be passed on', { cause: error });
  }
  if (error.name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new HubError('upstream_bad_response', 'The service gave no valid answer', { cause: error });
  }
  return new HubError('upstream_unavailable', 'The service cannot be reached', { cause: error });
}
