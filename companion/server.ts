import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type {
  InternalContext,
  InternalRequest,
  InternalResponse,
  InternalRoute,
} from '../lib/companion-client/internal-route.ts';
import { type CompanionHealth, INTERNAL_HEADERS, INTERNAL_PATHS } from '../lib/companion-client/protocol.ts';
import { errorBody, HubError, toHubError } from '../lib/errors/hub-error.ts';
import type { Logger } from '../lib/logging/logger.ts';
import { type ChannelServer, createChannelServer } from './channel-server.ts';
import { createInternalRouter } from './router.ts';

export interface CompanionServerDeps {
  /** `AILINK_TOKEN`. */
  token: string;
  routes: readonly InternalRoute[];
  health: Omit<CompanionHealth, 'authorized'>;
  logger: Logger;
}

export interface CompanionServer {
  /** One server for the private socket and one for the port, over the same handler. */
  readonly servers: { readonly socket: Server; readonly port: Server };
  /** The private channel, over that handler too. */
  readonly channel: ChannelServer;
  /** Calls being answered now. */
  inFlight(): number;
}

/** Idle time after which the port's connections are closed; the client is told and leaves before. */
const PORT_KEEP_ALIVE_MS = 75_000;

/**
 * The internal API in plain node:http. Every call but `GET /health` must carry the token, unknown paths too
 * (contract §1). Time-outs of node:http are off: streams may be silent for long, and each call has its own clocks.
 */
export function createCompanionServer(deps: CompanionServerDeps): CompanionServer {
  const { logger } = deps;
  const find = createInternalRouter(deps.routes);
  const mayCall = createTokenCheck(deps.token);
  const health = Buffer.from(JSON.stringify({ ...deps.health, authorized: false }));
  const healthForOwner = Buffer.from(JSON.stringify({ ...deps.health, authorized: true }));
  let inFlight = 0;

  const onClosed = () => {
    inFlight -= 1;
  };

  function handle(request: InternalRequest, response: InternalResponse): void {
    const authorized = mayCall(request);
    if (request.url === INTERNAL_PATHS.health && request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(authorized ? healthForOwner : health);
      return;
    }
    if (authorized) answerCall(request, response);
    else fail(refusal(), request, response, contextOf(request));
  }

  function answerCall(request: InternalRequest, response: InternalResponse): void {
    inFlight += 1;
    response.once('close', onClosed);
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const context = contextOf(request);
    try {
      const answer = find(request.method ?? 'GET', path).handle(request, response, context);
      if (answer !== undefined) answer.catch((error) => fail(error, request, response, context));
    } catch (error) {
      fail(error, request, response, context);
    }
  }

  function fail(
    error: unknown,
    request: InternalRequest,
    response: InternalResponse,
    context: InternalContext,
  ): void {
    const known = toHubError(error);
    if (known.code === 'internal_error') {
      logger.error('An internal call failed', {
        requestId: context.requestId,
        path: request.url?.split('?')[0],
        cause:
          known.cause instanceof Error ? (known.cause.stack ?? known.cause.message) : String(known.cause),
      });
    }
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const body = Buffer.from(JSON.stringify(errorBody(known)));
    response.writeHead(known.status, {
      ...known.headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
      'x-request-id': context.requestId,
      [INTERNAL_HEADERS.code]: known.code,
      // An unread body would stand in the way of the next call on this connection.
      ...(request.complete ? {} : { connection: 'close' }),
    });
    response.end(body);
  }

  const create = (keepAliveTimeout: number) =>
    createServer({ requestTimeout: 0, keepAliveTimeout, noDelay: true }, handle);
  const servers = { socket: create(0), port: create(PORT_KEEP_ALIVE_MS) };
  const channel = createChannelServer({ token: deps.token, answer: answerCall });
  return { servers, channel, inFlight: () => inFlight };
}

function refusal(): HubError {
  return new HubError('unauthorized', 'The internal API asks for its token', {
    headers: { 'www-authenticate': 'Bearer', [INTERNAL_HEADERS.refused]: 'token' },
  });
}

function createTokenCheck(token: string): (request: InternalRequest) => boolean {
  const expected = Buffer.from(token, 'latin1');
  return (request) => {
    const given = request.headers[INTERNAL_HEADERS.token];
    // The length of a random token is no secret; its text is compared in constant time.
    if (typeof given !== 'string' || given.length !== expected.length) return false;
    return timingSafeEqual(Buffer.from(given, 'latin1'), expected);
  };
}

function contextOf(request: InternalRequest): InternalContext {
  const { headers } = request;
  const caller = headers[INTERNAL_HEADERS.caller];
  return {
    requestId: headerText(headers[INTERNAL_HEADERS.requestId]) ?? crypto.randomUUID(),
    caller: typeof caller === 'string' ? decoded(caller) : 'unknown',
    traceparent: headerText(headers[INTERNAL_HEADERS.traceparent]),
  };
}

function headerText(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
