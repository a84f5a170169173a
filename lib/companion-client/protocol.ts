/**
 * The internal API between gateway (or handler) and companion: HTTP/1.1, over a private unix socket where the
 * gateway spawned the companion, over `AILINK_URL` otherwise. Public paths (`/v1/*`, `/mcp*`) keep their names.
 */

/** Headers of every internal call, in lower case. */
export const INTERNAL_HEADERS = {
  /** `AILINK_TOKEN`; demanded on every call but `GET /health`. */
  token: 'x-ailink-token',
  requestId: 'x-request-id',
  traceparent: 'traceparent',
  target: 'x-target',
  /** Percent-encoded caller label (identity id or `ip:<address>`). */
  caller: 'x-hub-caller',
  /** Of an answer: `token` when the companion refused the call itself, so that it is never taken for a route's answer. */
  refused: 'x-ailink-refused',
  /** Of an answer: the code of the hub's own error in its body, for the access record; callers do not see it. */
  code: 'x-ailink-code',
} as const;

/** Paths that exist only inside. */
export const INTERNAL_PATHS = {
  /** Liveness, the only call without a token: `{status:'ok', configHash, pid}`. */
  health: '/health',
  /** GET: `{runtimeUsage, mcpConnections}`. */
  runtime: '/runtime',
  /** GET: the `runtimeUsage` object. */
  usage: '/runtime/usage',
  /** POST: clears the counters. */
  reset: '/runtime/reset',
  /** GET: Prometheus text. */
  metrics: '/metrics',
  /** POST `{from, batch, counts: ProxyCounts[]}`: what a gateway's proxies counted; each batch counts once. */
  proxyCounts: '/runtime/proxies',
  /** Sessions, rate-limit windows and single-use records: `POST /store/<operation>`. */
  store: '/store',
} as const;

/** Answer of `GET /health` of the companion. */
export interface CompanionHealth {
  status: 'ok';
  pid: number;
  /** SHA-256 (hex) of the effective configuration. */
  configHash: string;
  /** Whether the call carried the right token. */
  authorized: boolean;
}

/** State of the companion as the gateway sees it; `companion` of `/admin/runtime`. */
export interface CompanionStatus {
  status: 'starting' | 'up' | 'down';
  pid: number | null;
  restarts: number;
  /** ISO 8601 time of the last change of `status`. */
  since: string;
  /** ISO 8601 time of the next start, while it is down and supervised. */
  nextRetryAt: string | null;
  /** Set when a companion at `AILINK_URL` runs another configuration. */
  configMismatch?: boolean;
}
