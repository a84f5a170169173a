import { HubError } from '../errors/hub-error.ts';
import type { AggregateCatalog } from './aggregate-catalog.ts';
import type { Invoke } from './invoke.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, type RpcRequest, refusal, reply } from './json-rpc.ts';
import { memberText, onOneLine } from './json-spans.ts';
import { isObject } from './json-value.ts';
import type { ToolRegistry } from './registry.ts';
import type { Progress } from './rpc-client.ts';

/** Who asks, and how to reach them meanwhile. */
export interface McpCall {
  caller: string;
  requestId: string;
  /** Aborts when the client takes the request back or leaves. */
  signal: AbortSignal;
  /** Sends a notification ahead of the answer. */
  notify(message: string): void;
}

/** Runs one request of a client of `POST /mcp`; the JSON-RPC answer, on one line. */
export type RunMethod = (request: RpcRequest, call: McpCall) => Promise<string>;

export interface AggregateMethodsDeps {
  registry: ToolRegistry;
  catalog: AggregateCatalog;
  invoke: Invoke;
}

/** The methods of the hub as an MCP server: ping, tools/list and tools/call. */
export function createAggregateMethods({ registry, catalog, invoke }: AggregateMethodsDeps): RunMethod {
  async function listTools({ id, params }: RpcRequest): Promise<string> {
    // The list is one page: a cursor can only be somebody else's.
    if (params.cursor !== undefined) return refusal(id, INVALID_PARAMS, 'Unknown cursor');
    await registry.firstAttempts(registry.servers);
    return reply(id, `{"tools":${catalog.list()}}`);
  }

  async function callTool({ id, params, paramsText }: RpcRequest, call: McpCall): Promise<string> {
    const { name, arguments: args = {}, _meta: meta } = params;
    if (typeof name !== 'string' || !isObject(args)) {
      return refusal(id, INVALID_PARAMS, 'params must hold a name and an arguments object');
    }
    // A client may remember names from an earlier life of the hub, before any server was tried.
    if (catalog.find(name) === undefined) await registry.firstAttempts(registry.servers);
    const found = catalog.find(name);
    if (found === undefined) return refusal(id, INVALID_PARAMS, `Unknown tool: ${name.slice(0, 200)}`);
    try {
      const result = await invoke({
        ...found,
        args: { value: args, text: memberText(paramsText, 'arguments') ?? '{}' },
        caller: call.caller,
        requestId: call.requestId,
        signal: call.signal,
        onProgress: progressTo(call, isObject(meta) ? meta.progressToken : undefined),
      });
      return reply(id, onOneLine(result.text));
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      return refusal(id, INVALID_PARAMS, error.message);
    }
  }

  return async (request, call) => {
    switch (request.method) {
      case 'ping':
        return reply(request.id, '{}');
      case 'tools/list':
        return listTools(request);
      case 'tools/call':
        return callTool(request, call);
      default:
        return refusal(request.id, METHOD_NOT_FOUND, 'Method not found');
    }
  };
}

/** Hands progress on under the client's own token; servers see a token of the hub. */
function progressTo({ signal, notify }: McpCall, token: unknown): ((progress: Progress) => void) | undefined {
  if (typeof token !== 'string' && typeof token !== 'number') return undefined;
  return (progress) => {
    if (signal.aborted) return;
    const params = { progressToken: token, ...progress };
    notify(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params }));
  };
}
