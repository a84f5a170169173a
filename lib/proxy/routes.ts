import type { IncomingMessage } from 'node:http';
import type { CompanionClient } from '../companion-client/companion-client.ts';
import type { Config } from '../config/schema/config-schema.ts';
import { HubError } from '../errors/hub-error.ts';
import type { ClientAddresses } from '../http/client-ip.ts';
import type { OriginRules } from '../http/origin.ts';
import type { HubRequest } from '../http/request-context.ts';
import { pathOf } from '../http/request-target.ts';
import type { RouteGroup } from '../http/route.ts';
import type { Logs } from '../logging/logger.ts';
import { createProxyCounters } from './counts.ts';
import { type ForwardEnd, forward } from './forward.ts';
import { createService, type Service } from './service.ts';
import { readProxyTarget } from './target-path.ts';
import { openTunnel } from './tunnel.ts';

export interface ProxyRoutesDeps {
  config: Pick<Config, 'proxies' | 'hub' | 'auth'>;
  companion: Pick<CompanionClient, 'call'>;
  addresses: ClientAddresses;
  origins: Pick<OriginRules, 'isSecure'>;
  logs: Logs;
  /** Pause before counts are handed over, in ms; default 1000. */
  handOverAfterMs?: number;
}

export interface ProxyRoutes extends RouteGroup {
  /** Hands what was counted to the companion; rejects where it did not take it. */
  handOverCounts(): Promise<void>;
}

/** One proxy takes at most this share of the gateway's places. */
const SHARE_OF_PLACES = 0.5;

/** Reverse proxies: `ANY /proxy/{rest}` with `x-target`, or `ANY /proxy/{id}/{rest}` (contract §9). */
export function createProxyRoutes(deps: ProxyRoutesDeps): ProxyRoutes {
  const { config, companion, addresses, origins, logs, handOverAfterMs } = deps;
  const logger = logs.logger('proxy', 'proxy');
  const logsRequests = logger.enabled('info');
  const counters = createProxyCounters({ companion, afterMs: handOverAfterMs });
  const maxInFlight = Math.max(1, Math.floor(config.hub.limits.concurrency * SHARE_OF_PLACES));
  const hubCookie = config.auth.session.cookie.name;
  const services = new Map(
    config.proxies.map((proxy) => [
      proxy.id,
      createService({ config: proxy, hubCookie, addresses, origins, maxInFlight }),
    ]),
  );

  const targetOf = ({ url = '', headers }: IncomingMessage) =>
    readProxyTarget(url, headers['x-target'] as string | undefined);

  function find(request: HubRequest): { service: Service; path: string } {
    const { id, rest, query } = targetOf(request);
    if (id === undefined) {
      throw new HubError('target_required', 'Name a proxy in x-target or behind /proxy/', {
        param: 'x-target',
      });
    }
    const service = services.get(id);
    if (service === undefined) {
      throw new HubError('proxy_not_found', 'There is no proxy of this name', { param: 'x-target' });
    }
    request.hub.log.target = id;
    return { service, path: service.pathFor(rest, query) };
  }

  /** Counts an exchange and writes its record. */
  function record(service: Service, request: HubRequest, { status, cause }: ForwardEnd): void {
    const durationMs = performance.now() - request.hub.startedAt;
    counters.count(service.id, status, durationMs);
    if (cause === undefined && !logsRequests) return;
    const fields = {
      requestId: request.hub.id,
      proxy: service.id,
      method: request.method,
      path: pathOf(request.url ?? ''),
      status,
      durationMs: Math.round(durationMs * 10) / 10,
      caller: request.hub.caller.label,
    };
    if (cause === undefined) logger.info('request', fields);
    else logger.error('The service failed', { ...fields, error: cause });
  }

  return {
    name: 'proxy',
    prefixes: [{ path: '/proxy', access: 'main' }],
    routes: [
      {
        method: 'ALL',
        path: '/proxy/*rest',
        access(request) {
          const { id } = targetOf(request);
          const service = id === undefined ? undefined : services.get(id);
          return service !== undefined && !service.auth ? 'public' : 'main';
        },
        handler(request, response) {
          const { service, path } = find(request);
          service.enter();
          return forward(service, path, request, response, (end) => {
            service.leave();
            record(service, request, end);
          });
        },
      },
    ],
    async upgrade(request, socket, head) {
      const { service, path } = find(request);
      try {
        const end = await openTunnel(service, path, request, socket, head);
        record(service, request, end);
        return end.status;
      } catch (error) {
        record(service, request, {
          status: (error as HubError).status,
          cause: (error as HubError).cause as Error,
        });
        throw error;
      }
    },
    handOverCounts: counters.handOver,
    async close() {
      counters.close();
      await counters.handOver().catch(() => {});
      await Promise.all([...services.values()].map(({ pool }) => pool.destroy()));
    },
  };
}
