import { HubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import type { CallPeer } from './call-peer.ts';
import { ToolFailure, toToolFailure } from './failure.ts';
import type { StopSignal } from './stop-signal.ts';
import type { Tool } from './tool-catalog.ts';
import { textResult } from './tool-result.ts';
import type { ToolArguments, ToolResult, ToolServer } from './tool-server.ts';
import type { Outcome } from './tool-stats.ts';

/** One invocation by one caller. */
export interface Invocation {
  server: ToolServer;
  tool: string;
  args: ToolArguments;
  caller: string;
  requestId: string;
  /** Aborts when the caller leaves. */
  signal: StopSignal;
  peer?: CallPeer | undefined;
}

/**
 * Runs an invocation, counts it and writes its record. Whatever goes wrong with the server or the tool is a
 * result with isError.
 * @throws HubError `tool_not_found`, the same for a hidden tool and for one that does not exist; not counted.
 */
export type Invoke = (invocation: Invocation) => Promise<ToolResult>;

export interface InvokeDeps {
  log: Logger;
  /** Cuts configured secrets out of the hub's own error texts. Tools' results are not touched. */
  mask(text: string): string;
}

export function createInvoke({ log, mask }: InvokeDeps): Invoke {
  async function run(invocation: Invocation): Promise<ToolResult> {
    const { server, args, signal, peer } = invocation;
    const tool = await findTool(invocation);
    const fault = tool.checkArguments(args.value);
    if (fault !== undefined) {
      throw new ToolFailure('tool', 'invalid_arguments', `Invalid arguments for ${tool.name}: ${fault}`);
    }
    return server.call(tool, args, { signal, peer });
  }

  return async function invoke(invocation) {
    const startedAt = performance.now();
    let outcome: Outcome;
    let code: string | undefined;
    let result: ToolResult;
    try {
      result = await run(invocation);
      outcome = result.isError ? 'tool' : 'success';
    } catch (error) {
      if (error instanceof HubError) throw error;
      const failure = toToolFailure(error);
      outcome = failure.kind;
      code = failure.code;
      result = textResult(mask(failure.message), true);
    }
    const durationMs = Math.round((performance.now() - startedAt) * 1000) / 1000;
    const { server, tool, caller, requestId } = invocation;
    server.counters.record(tool, outcome, durationMs);
    log.info('Tool invoked', { server: server.name, tool, durationMs, outcome, code, caller, requestId });
    return result;
  };
}

async function findTool({ server, tool: name, signal }: Invocation): Promise<Tool> {
  // The filter is known without the server, and a hidden tool is never worth a connection.
  if (!server.exposes(name)) throw notFound();
  if (server.catalog() === undefined) await server.ready(signal);
  const tool = server.catalog()?.tools.get(name);
  if (tool === undefined) throw notFound();
  return tool;
}

function notFound(): HubError {
  return new HubError('tool_not_found', 'This tool server has no tool of this name');
}
