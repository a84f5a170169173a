import type { Request, Response } from 'express';
import { HubError } from '../errors/hub-error.ts';
import type { Cors } from './cors.ts';
import type { Gate } from './gate.ts';
import type { Access } from './route.ts';
import { accessOf, type Endpoint, isLimited, type RouteTable } from './route-table.ts';

export interface DispatchDeps {
  table: RouteTable;
  gate: Gate;
  cors: Cors | undefined;
}

/**
 * The router: credentials before anything else, then 404, 405, limits and the route. Path and access come from one
 * table, so that no spelling of a path can reach a handler by another access than its own.
 */
export function createDispatch({ table, gate, cors }: DispatchDeps) {
  /** The endpoint of a request; that there is none is said only to whoever may know. */
  async function locate(request: Request): Promise<Endpoint> {
    let fault: unknown;
    try {
      const endpoint = table.find(request.url);
      if (endpoint !== undefined) return endpoint;
    } catch (error) {
      fault = error;
    }
    await gate.authorize(table.accessOfUnknown(request.url), request);
    throw fault ?? new HubError('not_found', 'There is nothing at this path');
  }

  async function refuseMethod(request: Request, endpoint: Endpoint): Promise<never> {
    if (!endpoint.isPublic) await gate.authorize(table.accessOfUnknown(request.url), request);
    throw new HubError('method_not_allowed', `This path does not answer ${request.method}`, {
      headers: { allow: endpoint.allow },
    });
  }

  async function mayPass(access: Access, request: Request): Promise<boolean> {
    try {
      await gate.authorize(access, request);
      return true;
    } catch {
      return false;
    }
  }

  /** OPTIONS is answered without credentials; a route for all methods gets it only from whoever may use it. */
  async function answersOptions(request: Request, response: Response, endpoint: Endpoint): Promise<boolean> {
    const preflight = cors?.preflight(request, endpoint.allow);
    const route = endpoint.route('OPTIONS');
    if (preflight === undefined && route !== undefined) {
      const mayUse = await mayPass(accessOf(route, request), request);
      if (mayUse) return false;
    }
    response.writeHead(204, ['allow', endpoint.allow, ...(preflight ?? [])]);
    response.end();
    return true;
  }

  return async (request: Request, response: Response): Promise<void> => {
    // The one turn that every request waits: after it a short body, which came with its head, is there to be taken.
    const endpoint = await locate(request);
    const isOptions = request.method === 'OPTIONS';
    if (isOptions && (await answersOptions(request, response, endpoint))) return;
    const route = endpoint.route(request.method);
    if (route === undefined) return refuseMethod(request, endpoint);
    if (!isOptions) {
      const entry = gate.authorize(accessOf(route, request), request);
      if (entry !== undefined) await entry;
    }
    if (isLimited(route)) {
      const admission = gate.admit(request, response);
      const headers = admission instanceof Promise ? await admission : admission;
      for (const name in headers) response.setHeader(name, headers[name] as string);
    }
    if (endpoint.params !== undefined) request.params = endpoint.params as Request['params'];
    await route.handler(request, response);
  };
}
