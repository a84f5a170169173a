import type { McpServerConfig } from '../../config/schema/tools.ts';
import { isSecretName, namedArgument } from '../../config/secret-names.ts';
import { parseSize } from '../../config/size.ts';
import { httpTransport } from './http.ts';
import type { PidFile } from './pid-file.ts';
import { stdioTransport } from './stdio.ts';
import type { ServerTrace, TransportFactory } from './transport.ts';
import { webSocketTransport } from './websocket.ts';

/** Milliseconds. */
export interface TransportTiming {
  /** stdio: between TERM and KILL. */
  killAfterMs: number;
  /** websocket: between two pings; a peer silent over two is gone. */
  socketPingMs: number;
  /** http: before a cut answer is fetched again, unless the server says otherwise. */
  resumeAfterMs: number;
  /** http: backoff of the standing event stream. */
  standbyBaseMs: number;
  standbyCapMs: number;
  /** http, websocket: for a polite end. */
  farewellMs: number;
}

export interface TransportDeps {
  pidFile: PidFile;
  trace: ServerTrace;
  timing: TransportTiming;
}

/** Messages that are no results are never longer than this. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Room for what is around a result in its message. */
const ENVELOPE_BYTES = 64 * 1024;

/** The transport of a configured server. */
export function createTransport(config: McpServerConfig, deps: TransportDeps): TransportFactory {
  const { timing, pidFile, trace } = deps;
  const { url = '' } = config;
  const maxMessageBytes = Math.max(MAX_MESSAGE_BYTES, parseSize(config.maxResultSize)) + ENVELOPE_BYTES;
  switch (config.transport) {
    case 'stdio':
      return stdioTransport({
        command: config.command ?? '',
        args: config.args,
        env: config.env,
        maxLineBytes: maxMessageBytes,
        killAfterMs: timing.killAfterMs,
        pidFile,
        trace,
      });
    case 'http':
      return httpTransport({ url, headers: config.headers, maxMessageBytes, timing });
    case 'websocket':
      return webSocketTransport({
        url,
        maxMessageBytes,
        handshakeMs: config.connectTimeout,
        pingEveryMs: timing.socketPingMs,
        farewellMs: timing.farewellMs,
      });
  }
}

const REDACTED = '[REDACTED]';

/** What an operator sees of a server's address: no userinfo, no query values, no values of secret flags. */
export function describeEndpoint(config: McpServerConfig): string {
  if (config.transport === 'stdio') {
    return [
      config.command ?? '',
      ...config.args.map((_, index) => describeArgument(config.args, index)),
    ].join(' ');
  }
  if (!URL.canParse(config.url ?? '')) return '';
  const { protocol, host, pathname, searchParams } = new URL(config.url ?? '');
  const query = [...new Set(searchParams.keys())].map((name) => `${name}=${REDACTED}`).join('&');
  return `${protocol}//${host}${pathname}${query === '' ? '' : `?${query}`}`;
}

function describeArgument(args: readonly string[], index: number): string {
  const argument = args[index] ?? '';
  const before = index === 0 ? undefined : namedArgument(args[index - 1] ?? '');
  if (before !== undefined && before.value === undefined && isSecretName(before.name)) return REDACTED;
  const named = namedArgument(argument);
  const isSecret = named?.value !== undefined && isSecretName(named.name);
  return isSecret ? argument.slice(0, named.valueAt) + REDACTED : argument;
}
