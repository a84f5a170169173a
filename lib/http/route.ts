import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request, Response } from 'express';
import type { Caller, HubRequest } from './request-context.ts';

/** Who may use a route: `main` = main authentication, `admin` = admin key, `public` = everybody. */
export type Access = 'main' | 'admin' | 'public';

/** Decides per request, where it depends on more than the path (proxies choose by `x-target`). Cheap and synchronous. */
export type AccessOf = (request: IncomingMessage) => Access;

export type RouteHandler = (request: Request, response: Response) => void | Promise<void>;

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ALL';
  /**
   * Absolute path: literal segments, `:name` for one segment, and at the end `*name` for the rest (none included).
   * Parameters are in `request.params`, decoded, the rest as a list of segments.
   */
  path: string;
  /** Left out: the access of the prefix that covers it. A public route under a protected prefix says so here. */
  access?: Access | AccessOf;
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
  /** Begins work of its own, such as resuming what an earlier process left, before the gateway listens. */
  start?(): void | Promise<void>;
  /**
   * Takes over a protocol upgrade (WebSocket) under this group's prefixes, after authentication. A promise resolves
   * with the status that the caller saw; one that rejects has written nothing, and the error is answered.
   */
  upgrade?(
    request: HubRequest,
    socket: Duplex,
    head: Buffer,
    caller: Caller,
    // biome-ignore lint/suspicious/noConfusingVoidType: a group that always succeeds has nothing to say
  ): void | Promise<number>;
  /** Ends what the group began by itself, e.g. its connections. Requests have ended by then. */
  close?(): Promise<void>;
}
