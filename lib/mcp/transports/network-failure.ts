import { ToolFailure } from '../failure.ts';
import { isObject } from '../json-value.ts';

/** Errors before a connection stood: nothing was sent. */
const UNREACHED: Readonly<Record<string, [code: string, message: string]>> = {
  ECONNREFUSED: ['connection_refused', 'The tool server refused the connection'],
  ENOTFOUND: ['host_not_found', 'The host of the tool server was not found'],
  EAI_AGAIN: ['host_not_found', 'The host of the tool server could not be looked up'],
  ENETUNREACH: ['unreachable', 'The tool server cannot be reached'],
  EHOSTUNREACH: ['unreachable', 'The tool server cannot be reached'],
  ETIMEDOUT: ['connect_timeout', 'The tool server accepted no connection in time'],
  UND_ERR_CONNECT_TIMEOUT: ['connect_timeout', 'The tool server accepted no connection in time'],
};

const TLS_CODE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;

/**
 * Translates what Node, undici and ws throw, by code, walking causes. The texts are our own: theirs name hosts
 * and addresses, which callers must not learn.
 */
export function networkFailure(error: unknown): ToolFailure {
  for (let at = error, depth = 0; depth < 5; depth += 1) {
    if (at instanceof ToolFailure) return at;
    const { code, cause, errors } = describe(at);
    // Of an attempt at several addresses the last one's word stands for all.
    if (errors !== undefined) return networkFailure(errors.at(-1));
    const unreached = UNREACHED[code];
    if (unreached !== undefined) {
      return new ToolFailure('transport', unreached[0], unreached[1], { neverSent: true, cause: error });
    }
    if (TLS_CODE.test(code)) {
      return new ToolFailure('transport', 'tls_failed', `TLS with the tool server failed (${code})`, {
        neverSent: true,
        cause: error,
      });
    }
    at = cause;
  }
  return new ToolFailure('transport', 'connection_lost', 'The connection to the tool server was lost', {
    cause: error,
  });
}

function describe(error: unknown): { code: string; cause: unknown; errors: unknown[] | undefined } {
  const { code, cause, errors } = isObject(error) ? error : {};
  return {
    code: typeof code === 'string' ? code : '',
    cause,
    errors: Array.isArray(errors) && errors.length > 0 ? errors : undefined,
  };
}
