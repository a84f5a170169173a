import { HubError } from '../errors/hub-error.ts';
import type { AggregateCatalog } from './aggregate-catalog.ts';
import { askClient } from './ask-client.ts';
import type { CallPeer } from './call-peer.ts';
import type { Invoke } from './invoke.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND, type RpcRequest, refusal, reply } from './json-rpc.ts';
import { memberText, onOneLine } from './json-spans.ts';
import { isObject } from './json-value.ts';
import type { ToolRegistry } from './registry.ts';
import type { Session } from './sessions.ts';
import type { StopSignal } from './stop-signal.ts';

/** Who asks, and how to reach them meanwhile. */
export interface McpCall {
  caller: string;
  requestId: string;
  session: Session;
  /** Aborts when the client takes the request back or leaves. */
  signal: StopSignal;
  /** Sends a notification or a request of the hub ahead of the answer; false when the client reads no streams. */
  send(message: string): boolean;
}

/** Runs one request of a client of `POST /mcp`; the JSON-RPC answer, on one line. */
export type RunMethod = (request: RpcRequest, call: McpCall) => Promise<string>;

/** The tools that a kind of client is offered. */
export interface Offer {
  registry: ToolRegistry;
  catalog: AggregateCatalog;
}

export interface AggregateMethodsDeps {
  /** The offer for a session: clients that can be asked have connections of their own. */
  offerFor(session: Session): Offer;
  invoke: Invoke;
}

/** The methods of the hub as an MCP server: ping, tools/list, tools/call and logging/setLevel. */
export function createAggregateMethods({ offerFor, invoke }: AggregateMethodsDeps): RunMethod {
  async function listTools({ id, params }: RpcRequest, { session }: McpCall): Promise<string> {
    const { registry, catalog } = offerFor(session);
    // The list is one page: a cursor can only be somebody else's.
    if (params.cursor !== undefined) return refusal(id, INVALID_PARAMS, 'Unknown cursor');
    await registry.prepareListing(registry.servers);
    return reply(id, `{"tools":${catalog.list()}}`);
  }

  async function callTool({ id, params, paramsText }: RpcRequest, call: McpCall): Promise<string> {
    const { name, arguments: args = {}, _meta: meta } = params;
    if (typeof name !== 'string' || !isObject(args)) {
      return refusal(id, INVALID_PARAMS, 'params must hold a name and an arguments object');
    }
    const { registry, catalog } = offerFor(call.session);
    // A client may remember names from an earlier life of the hub, before any server was tried.
    if (catalog.find(name) === undefined) await registry.prepareListing(registry.servers);
    const found = catalog.find(name);
    if (found === undefined) return refusal(id, INVALID_PARAMS, `Unknown tool: ${name.slice(0, 200)}`);
    try {
      const result = await invoke({
        ...found,
        args: { value: args, text: memberText(paramsText, 'arguments') ?? '{}' },
        caller: call.caller,
        requestId: call.requestId,
        signal: call.signal,
        peer: peerFor(call, isObject(meta) ? meta.progressToken : undefined),
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
        return listTools(request, call);
      case 'tools/call':
        return callTool(request, call);
      case 'logging/setLevel':
        return setLogLevel(request, call);
      default:
        return refusal(request.id, METHOD_NOT_FOUND, 'Method not found');
    }
  };
}

/** The levels of MCP logging, the least first (RFC 5424). */
const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

async function setLogLevel({ id, params }: RpcRequest, { session }: McpCall): Promise<string> {
  const level = LOG_LEVELS.indexOf(String(params.level));
  if (level === -1) return refusal(id, INVALID_PARAMS, 'Unknown log level');
  session.logLevel = level;
  return reply(id, '{}');
}

/** The way back to the client, for the length of one call. */
function peerFor({ session, signal, send }: McpCall, token: unknown): CallPeer {
  const canReport = typeof token === 'string' || typeof token === 'number';

  function notify(method: string, params: string): void {
    if (!signal.aborted) send(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`);
  }

  return {
    // Servers see a token of the hub; the client's own goes back to it.
    progress: canReport
      ? (progress) => notify('notifications/progress', JSON.stringify({ progressToken: token, ...progress }))
      : undefined,
    log(params) {
      const { level }: { level?: unknown } = JSON.parse(params);
      if (LOG_LEVELS.indexOf(String(level)) >= session.logLevel) {
        notify('notifications/message', onOneLine(params));
      }
    },
    ask: (method, params) => askClient(session, signal, send, method, params),
  };
}
