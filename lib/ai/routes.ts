import type { CompanionClient } from '../companion-client/companion-client.ts';
import { INTERNAL_HEADERS } from '../companion-client/protocol.ts';
import { readJsonBody } from '../http/body.ts';
import type { RouteGroup, RouteHandler } from '../http/route.ts';
import { OPERATIONS } from './operations.ts';

export interface AiRoutesDeps {
  companion: Pick<CompanionClient, 'relay'>;
  /** Largest request body in bytes (`hub.limits.jsonBody`). */
  bodyLimit: number;
}

/**
 * The gateway's side of `/v1` (contract §5): checks form and size of a body and hands it to AI-Link unread. Request
 * id, trace and caller go with it; the caller's credentials stay here.
 */
export function createAiRoutes({ companion, bodyLimit }: AiRoutesDeps): RouteGroup {
  const call: RouteHandler = async (request, response) => {
    const target = request.headers[INTERNAL_HEADERS.target];
    const headers = ['content-type', 'application/json'];
    if (typeof target === 'string') {
      headers.push(INTERNAL_HEADERS.target, target);
      request.hub.log.target = target;
    }
    const body = await readJsonBody(request, { limit: bodyLimit });
    await companion.relay({ method: 'POST', path: request.path, headers, body }, response, request.hub);
  };
  const models: RouteHandler = (request, response) =>
    companion.relay({ method: 'GET', path: request.path, headers: [], body: null }, response, request.hub);

  return {
    name: 'ai',
    prefixes: [{ path: '/v1', access: 'main' }],
    routes: [
      ...Object.values(OPERATIONS).map(({ path }) => ({ method: 'POST' as const, path, handler: call })),
      { method: 'GET', path: '/v1/models', handler: models },
      { method: 'GET', path: '/v1/models/*id', handler: models },
    ],
  };
}
