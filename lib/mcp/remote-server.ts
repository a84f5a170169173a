import type { McpServerConfig } from '../config/schema/tools.ts';
import type { ServerConnection } from './connection.ts';
import { isUp } from './connection-state.ts';
import { toToolFailure } from './failure.ts';
import type { CallQueue } from './queue.ts';
import type { RpcReply } from './rpc-answer.ts';
import type { RpcClient } from './rpc-client.ts';
import type { Tool } from './tool-catalog.ts';
import { createToolFilter } from './tool-filter.ts';
import { toToolResult } from './tool-result.ts';
import type { ServerStats, ToolArguments, ToolCallOptions, ToolResult, ToolServer } from './tool-server.ts';
import { type ToolStats, toolRows } from './tool-stats.ts';
import type { ServerTrace } from './transports/transport.ts';

export interface RemoteServerDeps {
  config: McpServerConfig;
  connection: ServerConnection;
  /** Shared by all connections to the server. */
  trace: ServerTrace;
  queue: CallQueue;
  counters: ToolStats;
  /** What an operator sees of the address: no credentials, no query values. */
  endpoint: string;
  maxResultBytes: number;
  mask(text: string): string;
  now?(): number;
}

/** A configured tool server: its connection with filter, queue, timeout and counters. */
export function createRemoteServer(deps: RemoteServerDeps): ToolServer {
  const { config, connection, trace, queue, counters, mask, maxResultBytes, now = Date.now } = deps;
  const exposes = createToolFilter(config.allowedTools, config.ignoredTools);
  const endpoint = mask(deps.endpoint);

  async function call(tool: Tool, args: ToolArguments, options: ToolCallOptions): Promise<ToolResult> {
    const arrivedAt = performance.now();
    const place = queue.enter(options.signal, config.toolTimeout);
    if (place !== undefined) await place;
    try {
      const params = `{"name":${JSON.stringify(tool.name)},"arguments":${args.text}}`;
      const waited = place === undefined ? 0 : performance.now() - arrivedAt;
      return toToolResult(await send(params, options, config.toolTimeout - waited));
    } catch (error) {
      const failure = toToolFailure(error);
      // Silence may be one slow tool or a frozen server: a ping tells.
      if (failure.kind === 'timeout') connection.suspect();
      throw failure;
    } finally {
      queue.leave();
    }
  }

  /** Sends the call; once more when the first one provably never reached the server. */
  async function send(params: string, options: ToolCallOptions, timeout: number): Promise<RpcReply> {
    const client = connection.acquire(options.signal);
    // Connecting has its own limit; the tool's time begins after it.
    if (client instanceof Promise) return request(await client, params, options, config.toolTimeout);
    try {
      return await request(client, params, options, timeout);
    } catch (error) {
      if (!toToolFailure(error).neverSent) throw error;
      return request(await connection.acquire(options.signal), params, options, config.toolTimeout);
    }
  }

  async function request(
    client: RpcClient,
    params: string,
    { signal, peer }: ToolCallOptions,
    timeout: number,
  ): Promise<RpcReply> {
    const reply = await client.request('tools/call', params, {
      signal,
      peer,
      timeout,
      maxBytes: maxResultBytes,
    });
    connection.succeeded();
    return reply;
  }

  function stats(): ServerStats {
    const state = connection.state();
    const introduction = connection.introduction();
    const pid = connection.pid();
    const up = state.connectedAt;
    return {
      name: config.name,
      transport: config.transport,
      autoConnect: config.autoConnect,
      status: state.status,
      healthy: state.status === 'connected',
      serverInfo: introduction?.serverInfo ?? null,
      protocolVersion: introduction?.protocolVersion ?? null,
      ...(pid !== undefined && { pid }),
      endpoint,
      connectedAt: isoOrNull(up),
      uptimeSeconds: up === null ? null : Math.floor((now() - up) / 1000),
      lastPingMs: connection.lastPingMs(),
      lastError: connection.lastError(),
      restarts: state.restarts,
      consecutiveFailures: state.failures,
      crashLoop: state.crashLoop,
      nextRetryAt: isoOrNull(state.nextRetryAt),
      ...(trace.exit !== null && { exit: trace.exit }),
      inFlight: queue.inFlight(),
      queued: queue.queued(),
      invocations: counters.invocations(),
      errors: counters.errors(),
      latencyMs: counters.latency(),
      tools: toolRows(connection.catalog(), exposes, counters),
      invalidTools: (connection.catalog()?.invalid ?? []).map(({ name, reason }) => ({
        name,
        reason: mask(reason),
      })),
      stderrTail: trace.stderrTail().map(mask),
    };
  }

  return {
    name: config.name,
    exposes,
    counters,
    status: () => connection.state().status,
    catalog: connection.catalog,
    firstAttempt: connection.firstAttempt,
    refresh: connection.refresh,
    async ready(signal) {
      await connection.acquire(signal);
    },
    call,
    lastErrorMessage: () => (isUp(connection.state().status) ? undefined : connection.lastError()?.message),
    stats,
    start: connection.start,
    close: connection.close,
  };
}

function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
