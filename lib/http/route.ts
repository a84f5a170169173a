import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { NextFunction, Request, Response } from 'express';
import type { Caller } from './request-context.ts';

/** Who may use a route: `main` = main authentication, `admin` = admin key, `public` = everybody. */
export type Access = 'main' | 'admin' | 'public';

export type RouteHandler = (request: Request, response: Response, next: NextFunction) => void | Promise<void>;

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ALL';
  /** Express 5 path, absolute. */
  path: string;
  /** Left out: the access of the prefix that covers it. A public route under a protected prefix says so here. */
  access?: Access;
  handler: RouteHandler;
}

/**
 * One capability's part of the HTTP surface. The router built from it answers OPTIONS, HEAD, 404 and 405 and
 * asks for credentials before anything else, so that a group states only its routes.
 */
export interface RouteGroup {
  name: string;
  /** Paths under which even an unknown path asks for credentials, e.g. `{path: '/v1', access: 'main'}`. */
  prefixes: readonly { path: string; access: Access }[];
  routes: readonly Route[];
  /** Takes over a protocol upgrade (WebSocket) under this group's prefixes, after authentication. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer, caller: Caller): void;
}
