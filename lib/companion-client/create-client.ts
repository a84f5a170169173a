import type { ServerResponse } from 'node:http';
import { Pool } from 'undici';
import type { RequestContext } from '../http/request-context.ts';
import type { Logger } from '../logging/logger.ts';
import { createChannel } from './channel/channel-client.ts';
import type { CompanionCall, CompanionClient, RelayRequest } from './companion-client.ts';
import { callJson, unavailable } from './json-call.ts';
import { createProbedStatus } from './probed-status.ts';
import type { PrivateSockets } from './process-messages.ts';
import { type CompanionHealth, type CompanionStatus, INTERNAL_HEADERS, INTERNAL_PATHS } from './protocol.ts';
import { RelayHandler } from './relay-handler.ts';

export interface CompanionClientOptions {
  /** The private sockets of a spawned companion, or the origin of one that runs elsewhere. */
  address: { sockets: PrivateSockets } | { url: string };
  /** `AILINK_TOKEN`. */
  token: string;
  /** Most relays at once: `hub.limits.concurrency`. Each has a connection of its own. */
  concurrency?: number;
  /** State of a companion that this process supervises. Left out: what the last probe or call found. */
  supervised?: () => CompanionStatus;
  /** Hash of this process's configuration; another one in the companion sets `configMismatch`. */
  configHash?: string;
  logger?: Logger;
}

const DEFAULT_CONCURRENCY = 2000;
/** Small calls at once. They have connections of their own, so that no crowd of streams delays them. */
const CALL_CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 3000;
/** Idle connections are kept this long; the companion tells when its own patience is shorter. */
const KEEP_ALIVE_MS = 60_000;

/** Creates the client of the internal API, for the gateway (by socket or URL) and for handlers (by URL). */
export function createCompanionClient(options: CompanionClientOptions): CompanionClient {
  const { token, logger } = options;
  const origin = 'url' in options.address ? options.address.url : 'http://companion';
  const basePath = 'url' in options.address ? new URL(options.address.url).pathname.replace(/\/$/, '') : '';
  const createPool = (connections: number) =>
    new Pool(new URL(origin).origin, {
      ...('sockets' in options.address && { socketPath: options.address.sockets.http }),
      connections,
      pipelining: 1,
      connectTimeout: CONNECT_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The companion's calls have clocks of their own; a stream may be silent for as long as they allow.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  const relays =
    'sockets' in options.address
      ? createChannel({ socketPath: options.address.sockets.calls, token })
      : createPool(options.concurrency ?? DEFAULT_CONCURRENCY);
  const calls = createPool(CALL_CONNECTIONS);
  const probed = createProbedStatus({ configHash: options.configHash, logger });
  const status = options.supervised ?? probed.status;

  /** A supervised companion that is not up is not tried: the answer is known. */
  function refuseWhenDown(): void {
    if (options.supervised !== undefined && options.supervised().status !== 'up') throw unavailable();
  }

  function relay(request: RelayRequest, response: ServerResponse, context: RequestContext): Promise<void> {
    return new Promise((resolve, reject) => {
      refuseWhenDown();
      const headers = [
        INTERNAL_HEADERS.token,
        token,
        INTERNAL_HEADERS.requestId,
        context.id,
        INTERNAL_HEADERS.caller,
        encodeURIComponent(context.caller.label),
      ];
      if (context.traceparent !== undefined) headers.push(INTERNAL_HEADERS.traceparent, context.traceparent);
      headers.push(...request.headers);
      relays.dispatch(
        { method: request.method, path: basePath + request.path, headers, body: request.body },
        new RelayHandler(response, {
          resolve,
          reject,
          onCode(code) {
            context.log.code = code;
          },
          onCut: (cause) =>
            logger?.error('AI-Link went away in the middle of an answer', {
              requestId: context.id,
              path: request.path.split('?')[0],
              cause: cause.message,
            }),
        }),
      );
    });
  }

  async function call<T>(request: CompanionCall): Promise<T> {
    refuseWhenDown();
    const headers = [INTERNAL_HEADERS.token, token];
    if (request.requestId !== undefined) headers.push(INTERNAL_HEADERS.requestId, request.requestId);
    const answer = await callJson(
      calls,
      { method: request.method, path: basePath + request.path, headers, body: request.body },
      request.signal,
    );
    return answer as T;
  }

  async function probe(timeoutMs: number): Promise<boolean> {
    if (options.supervised !== undefined && options.supervised().status !== 'up') return false;
    try {
      const health = (await callJson(
        calls,
        { method: 'GET', path: basePath + INTERNAL_PATHS.health, headers: [INTERNAL_HEADERS.token, token] },
        AbortSignal.timeout(timeoutMs),
      )) as CompanionHealth;
      probed.answered(health);
      // Its state may have changed while the answer was on its way.
      return health.status === 'ok' && health.authorized && status().status === 'up';
    } catch (error) {
      probed.failed(error);
      return false;
    }
  }

  async function close(): Promise<void> {
    await Promise.all([relays.destroy(), calls.destroy()]);
  }

  return { relay, call, probe, status, close };
}
