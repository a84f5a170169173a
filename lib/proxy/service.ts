import { Pool } from 'undici';
import type { ProxyConfig } from '../config/schema/hub.ts';
import { HubError } from '../errors/hub-error.ts';
import type { ClientAddresses } from '../http/client-ip.ts';
import type { OriginRules } from '../http/origin.ts';
import type { HubRequest } from '../http/request-context.ts';
import { createRequestHeaders } from './request-headers.ts';
import { createResponseHeaders } from './response-headers.ts';
import { checkRest } from './target-path.ts';

/** A proxied service, compiled from its configuration. */
export interface Service {
  id: string;
  /** Whether callers must be authenticated. */
  auth: boolean;
  timeoutMs: number;
  pool: Pool;
  /** Path and query on the service. @throws HubError `invalid_request` where the path could leave the base. */
  pathFor(rest: string, query: string): string;
  requestHeaders(request: HubRequest): string[];
  /** @param raw names and values alternating, as they came */
  responseHeaders(raw: readonly Buffer[]): string[];
  /** Takes one of the proxy's places, to be given back by `leave`. @throws HubError `overloaded` */
  enter(): void;
  leave(): void;
}

export interface ServiceDeps {
  config: ProxyConfig;
  hubCookie: string;
  addresses: ClientAddresses;
  origins: Pick<OriginRules, 'isSecure'>;
  /** Requests in flight to this service at most, so that one that hangs leaves room for all others. */
  maxInFlight: number;
}

/** A service that does not even accept a connection is given up sooner than one that thinks, in ms. */
const LONGEST_CONNECT_MS = 10_000;

/** Compiles one proxy: its headers, its path, and a pool of connections that no other proxy shares. */
export function createService({ config, hubCookie, addresses, origins, maxInFlight }: ServiceDeps): Service {
  const base = new URL(config.url);
  const basePath = base.pathname.replace(/\/+$/, '');
  let inFlight = 0;
  return {
    id: config.id,
    auth: config.auth,
    timeoutMs: config.timeout,
    pool: new Pool(base.origin, {
      headersTimeout: config.timeout,
      bodyTimeout: config.timeout,
      connect: { timeout: Math.min(config.timeout, LONGEST_CONNECT_MS) },
    }),
    pathFor(rest, query) {
      checkRest(rest);
      if (rest === '') return base.pathname + query;
      return basePath + rest + query;
    },
    requestHeaders: createRequestHeaders({ proxy: config, addresses, origins, hubCookie }),
    responseHeaders: createResponseHeaders({ proxy: config, hubCookie }),
    enter() {
      if (inFlight >= maxInFlight) {
        throw new HubError('overloaded', 'Too many requests wait for this service; try again shortly', {
          headers: { 'retry-after': '1' },
        });
      }
      inFlight += 1;
    },
    leave() {
      inFlight -= 1;
    },
  };
}
