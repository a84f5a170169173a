import { RedirectRefused } from './upstream.ts';

/** What kept a provider from answering. */
export type UpstreamFault = 'timeout' | 'refused' | 'reset' | 'dns' | 'tls' | 'unreachable' | 'malformed';

const BY_CODE: Record<string, UpstreamFault> = {
  CONNECT_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  ECONNREFUSED: 'refused',
  CONNECTION_LOST: 'reset',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EPROTO: 'tls',
  MALFORMED_ANSWER: 'malformed',
};

/** Reads the codes of the system, of our HTTP client and of OpenSSL, walking the chain of causes. */
export function faultOf(error: Error): UpstreamFault {
  let current: unknown = error;
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth += 1) {
    if (current instanceof RedirectRefused) return 'malformed';
    // Not every error comes from this realm, so its class says nothing.
    const { code, cause }: { code?: unknown; cause?: unknown } = current;
    const fault = typeof code === 'string' ? faultOfCode(code) : undefined;
    if (fault !== undefined) return fault;
    current = cause;
  }
  return 'unreachable';
}

function faultOfCode(code: string): UpstreamFault | undefined {
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  return /^(ERR_TLS|ERR_SSL)_|CERT|SELF_SIGNED|UNABLE_TO_/.test(code) ? 'tls' : undefined;
}
