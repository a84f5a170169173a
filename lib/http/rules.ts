import type { Config } from '../config/schema/config-schema.ts';
import { type ClientAddresses, createClientAddresses } from './client-ip.ts';
import { createOriginRules, type OriginRules } from './origin.ts';

/** Who a request comes from, compiled from `hub.security`, `hub.publicUrl` and `hub.cors` once per process. */
export interface HttpRules {
  addresses: ClientAddresses;
  origins: OriginRules;
}

export function createHttpRules({ security, publicUrl, cors }: Config['hub']): HttpRules {
  const addresses = createClientAddresses(security.trustProxy);
  return { addresses, origins: createOriginRules({ publicUrl, corsOrigins: cors.origins, addresses }) };
}
