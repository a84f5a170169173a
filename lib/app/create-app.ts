import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import express, { type Express, type Request, type Response } from 'express';
import { HubError } from '../errors/hub-error.ts';
import { createAccessLog } from '../http/access-log.ts';
import type { ClientAddresses } from '../http/client-ip.ts';
import { createContext } from '../http/context.ts';
import { createCors } from '../http/cors.ts';
import { createDispatch } from '../http/dispatch.ts';
import { createFailures } from '../http/error-response.ts';
import { createGate, type GateDeps } from '../http/gate.ts';
import { createLimits, type LimitsConfig } from '../http/limits.ts';
import { installNodeClasses } from '../http/node-classes.ts';
import type { OriginRules } from '../http/origin.ts';
import { createRequestIds } from '../http/request-id.ts';
import { originForm } from '../http/request-target.ts';
import { installResponseHead, securityHeaders } from '../http/response-head.ts';
import type { RouteGroup } from '../http/route.ts';
import { createRouteTable } from '../http/route-table.ts';
import { createUpgradeListener, type UpgradeListener } from '../http/upgrade.ts';
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
  authenticator: GateDeps['authenticator'];
  /** Lets an admin request pass or throws; without one every admin route is 403 (contract §8). */
  adminGuard?: GateDeps['adminGuard'] | undefined;
  /** Counts a request of a caller: headers of its answer, or throws `rate_limited`. */
  rateLimit?: GateDeps['rateLimit'];
  /** Cuts configured secrets out of error bodies. */
  mask?: ((text: string) => string) | undefined;
}

const upgradeListeners = new WeakMap<Express, UpgradeListener>();

/**
 * One Express app for one route group (a Lambda handler) or all of them (the gateway), with everything that groups
 * share done once: request ids, client addresses, authentication, limits, error shape, headers, access log.
 * Serve it by `http.createServer({...nodeClasses(app), ...UPGRADE_OPTIONS}, app)`, with `upgradeListener(app)` on the
 * server's `upgrade` event, or wrap it by serverless-http.
 */
export function createApp(groups: readonly RouteGroup[], deps: AppDeps): Express {
  const { hub, logs, addresses, origins } = deps;
  const table = createRouteTable(groups);
  const gate = createGate({
    authenticator: deps.authenticator,
    adminGuard: deps.adminGuard ?? refuseAdmin,
    limits: createLimits(hub.limits),
    rateLimit: deps.rateLimit,
  });
  const cors = createCors(hub.cors.origins, origins);
  const failures = createFailures({ logger: logs.logger('error', 'http'), mask: deps.mask });
  const accessLog = createAccessLog(logs.logger('access', 'http'));
  const requestId = createRequestIds();
  const contextOf = (request: IncomingMessage, closing: Response | Duplex) =>
    createContext(request, closing, requestId(request.headers['x-request-id']), addresses);

  const dispatch = createDispatch({ table, gate, cors });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  installNodeClasses(app);
  const common = securityHeaders(hub.tls.enabled);
  installResponseHead(app, common, ({ req }) => {
    // Node answers some requests by itself, before the app sees them: an HTTP/1.1 one without Host, an unknown Expect.
    const context = (req as Partial<Request>).hub;
    const own = ['x-request-id', context?.id ?? requestId(req.headers['x-request-id'])];
    if (context?.setCookie !== undefined) own.push('set-cookie', context.setCookie);
    if (cors !== undefined) own.push(...cors.headers(req));
    return own;
  });
  // One layer for all, because each costs every request a turn through Express's own router.
  app.use(function answer(request: Request, response: Response): Promise<void> {
    request.url = originForm(request.url);
    request.hub = contextOf(request, response);
    if (accessLog !== undefined) response.once('close', accessLog.begin(request, response));
    return dispatch(request, response);
  });
  app.use(failures.handle);

  upgradeListeners.set(
    app,
    createUpgradeListener({
      groups,
      table,
      gate,
      context: contextOf,
      render: failures.render,
      common: common.flat(),
      log: (request, status) => accessLog?.write(request, { status }),
    }),
  );
  return app;
}

/** The listener of the server's `upgrade` event for an app made by `createApp`: WebSockets of its groups. */
export function upgradeListener(app: Express): UpgradeListener {
  const listener = upgradeListeners.get(app);
  if (listener === undefined) throw new Error('upgradeListener knows only apps made by createApp');
  return listener;
}

function refuseAdmin(): never {
  throw new HubError('admin_forbidden', 'Admin access is not configured');
}
