import type { CompanionClient } from '../companion-client/companion-client.ts';
import { HubError } from '../errors/hub-error.ts';
import { readJsonBody } from '../http/body.ts';
import type { OriginRules } from '../http/origin.ts';
import type { Route, RouteGroup } from '../http/route.ts';

export interface McpRoutesDeps {
  companion: Pick<CompanionClient, 'relay'>;
  origins: Pick<OriginRules, 'isCrossSite'>;
  /** `hub.limits.jsonBody` in bytes. */
  bodyLimit: number;
  /** Whether responses reach the caller as they come; false on platforms that buffer: `GET /mcp` is 405 there. */
  streams?: boolean;
}

/** Headers that the companion reads; nothing else of the caller's request goes on. Names in lower case. */
const PASSED_ON = ['x-target', 'accept', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'];

/**
 * The tool gateway's public routes (spec §4.3, contract §6). Everything is decided in the companion, which holds
 * the connections; bodies pass through here unparsed.
 */
export function createMcpRoutes(deps: McpRoutesDeps): RouteGroup {
  const { companion, origins, bodyLimit, streams = true } = deps;

  function relayed(method: 'GET' | 'POST' | 'DELETE', path: string): Route {
    return {
      method,
      path,
      async handler(request, response) {
        // A page of another origin must not drive a session, whatever authentication says (MCP transports, Origin).
        if (path === '/mcp' && origins.isCrossSite(request)) {
          throw new HubError('cross_site', 'Requests of pages on other origins are not allowed');
        }
        const body = method === 'POST' ? await readJsonBody(request, { limit: bodyLimit }) : null;
        const headers = body === null ? [] : ['content-type', 'application/json'];
        for (const name of PASSED_ON) {
          const value = request.headers[name];
          if (typeof value !== 'string') continue;
          headers.push(name, value);
          if (name === 'x-target') request.hub.log.target = value;
        }
        const query = request.url.indexOf('?');
        await companion.relay(
          { method, path: query < 0 ? path : path + request.url.slice(query), headers, body },
          response,
          request.hub,
        );
      },
    };
  }

  const routes = [
    relayed('GET', '/mcp/tools'),
    relayed('POST', '/mcp/invoke'),
    relayed('GET', '/mcp/stats'),
    relayed('POST', '/mcp'),
    relayed('DELETE', '/mcp'),
  ];
  return {
    name: 'mcp',
    prefixes: [{ path: '/mcp', access: 'main' }],
    routes: streams ? [...routes, relayed('GET', '/mcp')] : routes,
  };
}
