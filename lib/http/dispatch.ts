import type { NextFunction, Request, Response } from 'express';
import type { Authenticator } from '../auth/authenticator.ts';
import { HubError } from '../errors/hub-error.ts';
import type { Cors } from './cors.ts';
import type { Limits } from './limits.ts';
import type { Access } from './route.ts';
import type { CompiledRoute, Endpoint, RouteTable } from './route-table.ts';

export interface DispatchDeps {
  table: RouteTable;
  authenticator: Authenticator;
  /** Lets an admin request pass or throws (contract §8). */
  adminGuard: (request: Request) => void | Promise<void>;
  limits: Limits;
  cors: Cors | undefined;
  /** Counts a request of a caller and throws `rate_limited` past `hub.rateLimit`. */
  rateLimit: ((request: Request, response: Response) => void | Promise<void>) | undefined;
}

/**
 * The router: credentials before anything else, then 404, 405, limits and the route. Path and access come from one
 * table, so that no spelling of a path can reach a handler by another access than its own.
 */
export function createDispatch(deps: DispatchDeps) {
  const { table, authenticator, adminGuard, limits, cors, rateLimit } = deps;

  async function authorize(access: Access, request: Request): Promise<void> {
    if (access === 'admin') await adminGuard(request);
    else if (access === 'main') request.hub.caller = await authenticator.authenticate(request, request.hub);
  }

  /** The endpoint of a request; that there is none is said only to whoever may know. */
  async function locate(request: Request): Promise<Endpoint> {
    let fault: unknown;
    try {
      const endpoint = table.find(request.url);
      if (endpoint !== undefined) return endpoint;
    } catch (error) {
      fault = error;
    }
    await authorize(table.accessOfUnknown(request.url), request);
    throw fault ?? new HubError('not_found', 'There is nothing at this path');
  }

  /** OPTIONS is answered without credentials; a route for all methods gets it only from whoever may use it. */
  async function answersOptions(request: Request, response: Response, endpoint: Endpoint): Promise<boolean> {
    const preflight = cors?.preflight(request, endpoint.allow);
    const route = endpoint.route('OPTIONS');
    if (preflight === undefined && route !== undefined) {
      const refusal = await authorize(accessOf(route, request), request).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refusal === undefined) return false;
    }
    response.writeHead(204, ['allow', endpoint.allow, ...(preflight ?? [])]);
    response.end();
    return true;
  }

  /** Takes a place for a route that needs main authentication; health, admin and public pages never queue. */
  async function admit(request: Request, response: Response): Promise<void> {
    const { hub } = request;
    if (rateLimit !== undefined) await rateLimit(request, response);
    const waiting = limits.enter(hub);
    if (waiting !== undefined) await waiting;
    const { label } = hub.caller;
    if (response.closed) limits.leave(label);
    else response.once('close', () => limits.leave(label));
  }

  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const endpoint = await locate(request);
    const isOptions = request.method === 'OPTIONS';
    if (isOptions && (await answersOptions(request, response, endpoint))) return;
    const route = endpoint.route(request.method);
    const access = route === undefined ? table.accessOfUnknown(request.url) : accessOf(route, request);
    if (!isOptions) await authorize(access, request);
    if (route === undefined) {
      throw new HubError('method_not_allowed', `This path does not answer ${request.method}`, {
        headers: { allow: endpoint.allow },
      });
    }
    if (access === 'main') await admit(request, response);
    if (endpoint.params !== undefined) request.params = endpoint.params as Request['params'];
    await route.handler(request, response, next);
  };
}

function accessOf(route: CompiledRoute, request: Request): Access {
  return typeof route.access === 'function' ? route.access(request) : route.access;
}
