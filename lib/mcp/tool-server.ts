import type { LatencySummary } from '../usage/usage.ts';
import type { CallPeer } from './call-peer.ts';
import type { ConnectionStatus } from './connection-state.ts';
import type { FailureClass, ProcessExit } from './failure.ts';
import type { StopSignal } from './stop-signal.ts';
import type { Tool, ToolCatalog } from './tool-catalog.ts';
import type { ToolFilter } from './tool-filter.ts';
import type { ToolRow, ToolStats } from './tool-stats.ts';

/** Arguments of one call, parsed for checking and raw for sending. */
export interface ToolArguments {
  value: unknown;
  /** JSON object text, as the caller wrote it. */
  text: string;
}

export interface ToolCallOptions {
  /** Aborts when the caller leaves; the call is cancelled at the server then. */
  signal: StopSignal;
  peer?: CallPeer | undefined;
}

/** A result as the tool gave it. */
export interface ToolResult {
  /** JSON object text with `content` and `isError`. */
  text: string;
  isError: boolean;
}

/** One entry of `servers` in `/mcp/stats` and of `mcpConnections` (contract §6). */
export interface ServerStats {
  name: string;
  transport: 'stdio' | 'http' | 'websocket' | 'internal';
  autoConnect: boolean;
  status: ConnectionStatus;
  healthy: boolean;
  serverInfo: Record<string, unknown> | null;
  protocolVersion: string | null;
  pid?: number;
  endpoint: string | null;
  connectedAt: string | null;
  uptimeSeconds: number | null;
  lastPingMs: number | null;
  lastError: { code: string; message: string; at: string } | null;
  restarts: number;
  consecutiveFailures: number;
  crashLoop: boolean;
  nextRetryAt: string | null;
  exit?: ProcessExit;
  inFlight: number;
  queued: number;
  invocations: number;
  errors: Record<FailureClass, number>;
  latencyMs: LatencySummary;
  tools: ToolRow[];
  invalidTools: { name: string; reason: string }[];
  stderrTail: string[];
}

/** Anything that offers tools: a remote server behind a connection, or the hub itself. */
export interface ToolServer {
  readonly name: string;
  /** Says whether a tool is exposed; holds at listing and at invoking. */
  readonly exposes: ToolFilter;
  readonly counters: ToolStats;
  status(): ConnectionStatus;
  /** The last known tools, whether the server is up or not. */
  catalog(): ToolCatalog | undefined;
  /** The first attempt to connect, begun by this call if need be; undefined once it has ended. */
  firstAttempt(): Promise<void> | undefined;
  /** A listing was asked for: reads the tools again in the background where nothing else would. */
  refresh(): void;
  /** Resolves when the tools are known. @throws ToolFailure when the server is down. */
  ready(signal: StopSignal): Promise<void>;
  /** @throws ToolFailure by what happened. */
  call(tool: Tool, args: ToolArguments, options: ToolCallOptions): Promise<ToolResult>;
  lastErrorMessage(): string | undefined;
  stats(): ServerStats;
  start(): void;
  close(): Promise<void>;
}
