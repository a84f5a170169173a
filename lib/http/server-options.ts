import type { ServerOptions } from 'node:http';

/**
 * Settings of the gateway's listener, for `http.createServer` and `https.createServer` alike. Header size stays
 * Node's own (16 KiB, then a bare 431).
 */
export const SERVER_OPTIONS = {
  /** A head that has not arrived by then is a 408: the guard against slow heads. */
  headersTimeout: 20_000,
  /** Uploads may take hours. `readBody` and the upload form bound their own bodies. */
  requestTimeout: 0,
  /** Longer than the 60 s of the usual load balancer, or it reuses connections that the hub is just closing. */
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 5000,
  noDelay: true,
} as const satisfies ServerOptions;
