import type { ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Authenticator } from '../auth/authenticator.ts';
import { HubError } from '../errors/hub-error.ts';
import { createAccessLog } from '../http/access-log.ts';
import type { ClientAddresses } from '../http/client-ip.ts';
import { createContext } from '../http/context.ts';
import { createCors } from '../http/cors.ts';
import { createDispatch } from '../http/dispatch.ts';
import { createErrorHandler } from '../http/error-response.ts';
import { createLimits, type LimitsConfig } from '../http/limits.ts';
import { installNodeClasses } from '../http/node-classes.ts';
import type { OriginRules } from '../http/origin.ts';
import { createRequestIds } from '../http/request-id.ts';
import { originForm } from '../http/request-target.ts';
import { installResponseHead, securityHeaders } from '../http/response-head.ts';
import type { RouteGroup } from '../http/route.ts';
import { createRouteTable } from '../http/route-table.ts';
import type { Logs } from '../logging/logger.ts';

/** What an app needs from its process. */
export interface AppDeps {
  /** The part of `hub` that the app obeys. */
  hub: {
    limits: LimitsConfig;
    cors: { origins: readonly string[] };
    tls: { enabled: boolean };
  };
  logs: Logs;
  addresses: ClientAddresses;
  origins: OriginRules;
  authenticator: Authenticator;
  /** Lets an admin request pass or throws; without one every admin route is 403 (contract §8). */
  adminGuard?: ((request: Request) => void | Promise<void>) | undefined;
  /** Counts a request of `request.hub.caller`, sets the RateLimit headers, throws `rate_limited`. */
  rateLimit?: ((request: Request, response: Response) => void | Promise<void>) | undefined;
  /** Cuts configured secrets out of error bodies. */
  mask?: ((text: string) => string) | undefined;
}

/**
 * One Express app for one route group (a Lambda handler) or all of them (the gateway), with everything that groups
 * share done once: request ids, client addresses, authentication, limits, error shape, headers, access log.
 * Serve it by `http.createServer({...nodeClasses(app), ...serverOptions}, app)` or wrap it by serverless-http.
 */
export function createApp(groups: readonly RouteGroup[], deps: AppDeps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  installNodeClasses(app);

  const cors = createCors(deps.hub.cors.origins, deps.origins);
  installResponseHead(app, securityHeaders(deps.hub.tls.enabled), (response) => {
    const request = requestOf(response);
    return cors === undefined
      ? ['x-request-id', request.hub.id]
      : ['x-request-id', request.hub.id, ...cors.headers(request)];
  });

  const requestId = createRequestIds();
  const accessLog = createAccessLog(deps.logs.logger('access', 'http'));
  app.use(function begin(request: Request, response: Response, next: NextFunction) {
    request.url = originForm(request.url);
    request.hub = createContext(
      request,
      response,
      requestId(request.headers['x-request-id']),
      deps.addresses,
    );
    if (accessLog !== undefined) response.once('close', accessLog(request, response, request.hub));
    next();
  });
  app.use(
    createDispatch({
      table: createRouteTable(groups),
      authenticator: deps.authenticator,
      adminGuard: deps.adminGuard ?? refuseAdmin,
      limits: createLimits(deps.hub.limits),
      cors,
      rateLimit: deps.rateLimit,
    }),
  );
  app.use(function nothingAnswered() {
    throw new HubError('not_found', 'There is nothing at this path');
  });
  app.use(createErrorHandler({ logger: deps.logs.logger('error', 'http'), mask: deps.mask }));
  return app;
}

function requestOf(response: ServerResponse): Request {
  return response.req as Request;
}

function refuseAdmin(): never {
  throw new HubError('admin_forbidden', 'Admin access is not configured');
}
