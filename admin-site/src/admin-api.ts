import type { CompanionStatus } from '../../lib/companion-client/protocol.ts';
import type { ServerStats } from '../../lib/mcp/tool-server.ts';
import type { RuntimeUsage } from '../../lib/usage/usage.ts';

/** Items of `configurationSummary` with what the panel shows of them. */
export interface TargetItem {
  id: string;
  provider: string;
  model: string | null;
  baseUrl: string | null;
  models: string[];
  fallback: string[];
}
export interface ProxyItem {
  id: string;
  url: string;
  removeHeaders: string[];
  removeResponseHeaders: string[];
  timeout: number;
  auth: boolean;
}
export interface ToolItem {
  id: string;
  description: string;
  method: string;
  url: string;
}
interface Section<T> {
  count: number;
  items: T[];
}

/** Body of `GET /admin/runtime`. */
export interface Runtime {
  process: {
    pid: number;
    hostname: string;
    nodeVersion: string;
    uptimeSeconds: number;
    platform: string;
    memoryMb: { rss: number; heapUsed: number; heapTotal: number; external: number };
  };
  configurationSummary: {
    targets: Section<TargetItem>;
    proxies: Section<ProxyItem>;
    tools: Section<ToolItem>;
    mcp: Section<{ id: string }>;
  };
  runtimeUsage: RuntimeUsage | null;
  mcpConnections: ServerStats[];
  companion: CompanionStatus;
}

/** Why a call did not succeed, in words for an operator. */
export class CallFailure extends Error {
  /** HTTP status; 0 when the hub did not answer at all. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const TIMEOUT_MS = 15_000;

export interface AdminApi {
  runtime(signal: AbortSignal): Promise<Runtime>;
  config(signal: AbortSignal): Promise<Record<string, unknown>>;
  reset(): Promise<void>;
}

/** Calls of the admin API with one key. Every failure is a `CallFailure`, except that of an aborted call. */
export function createAdminApi(hub: string, key: string): AdminApi {
  async function call<T>(method: string, path: string, signal?: AbortSignal): Promise<T> {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    try {
      response = await fetch(hub + path, {
        method,
        headers: { 'x-admin-key': key },
        credentials: 'omit',
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new CallFailure(0, limit.aborted ? 'The hub did not answer in time' : 'The hub does not answer');
    }
    const body = await response.json().catch(() => undefined);
    if (response.ok && body !== undefined) return body as T;
    throw new CallFailure(
      response.status,
      messageOf(body) ?? `The hub answered with status ${response.status}`,
    );
  }
  return {
    runtime: (signal) => call('GET', '/admin/runtime', signal),
    config: (signal) => call('GET', '/admin/config', signal),
    reset: () => call('POST', '/admin/runtime/reset'),
  };
}

/** `error.message` of an error body. */
export function messageOf(body: unknown): string | undefined {
  const message = (body as { error?: { message?: unknown } } | null | undefined)?.error?.message;
  return typeof message === 'string' ? message : undefined;
}
