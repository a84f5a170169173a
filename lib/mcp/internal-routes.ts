import type {
  InternalContext,
  InternalRequest,
  InternalResponse,
  InternalRoute,
} from '../companion-client/internal-route.ts';
import { INTERNAL_HEADERS } from '../companion-client/protocol.ts';
import { HubError } from '../errors/hub-error.ts';
import { parseJson, readJsonBody } from '../http/body.ts';
import { sendJson, sendText } from '../http/json-response.ts';
import type { Invoke } from './invoke.ts';
import { memberText } from './json-spans.ts';
import { isObject } from './json-value.ts';
import { serverStatistics, type ToolRegistry, toolListing } from './registry.ts';
import { StopControl, type StopSignal } from './stop-signal.ts';
import type { ToolArguments, ToolServer } from './tool-server.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

export interface InternalRoutesDeps {
  registry: ToolRegistry;
  /** The servers as statistics show them. */
  shown(): readonly ToolServer[];
  invoke: Invoke;
  /** Largest request body in bytes. */
  bodyLimit: number;
}

/** The REST side of the tool gateway, as the companion serves it (spec §4.3, contract §6). */
export function createInternalRoutes({
  registry,
  shown,
  invoke,
  bodyLimit,
}: InternalRoutesDeps): InternalRoute[] {
  async function listTools(request: InternalRequest, response: InternalResponse): Promise<void> {
    const name = new URL(request.url ?? '/', 'http://hub').searchParams.get('server');
    const servers = name === null || name === '' ? registry.servers : [registry.find(name)];
    await registry.prepareListing(servers);
    sendJson(response, 200, toolListing(servers));
  }

  async function invokeTool(
    request: InternalRequest,
    response: InternalResponse,
    context: InternalContext,
  ): Promise<void> {
    const target = request.headers[INTERNAL_HEADERS.target];
    if (typeof target !== 'string' || target === '') {
      throw new HubError('target_required', 'The header x-target must name a tool server', {
        param: INTERNAL_HEADERS.target,
      });
    }
    const server = registry.find(target);
    const { tool, args } = readInvocation(await readJsonBody(request, { limit: bodyLimit }));
    const result = await invoke({
      server,
      tool,
      args,
      caller: context.caller,
      requestId: context.requestId,
      signal: callerLeft(response),
    });
    sendText(response, 200, JSON_TYPE, result.text);
  }

  return [
    { method: 'GET', path: '/mcp/tools', handle: listTools },
    { method: 'POST', path: '/mcp/invoke', handle: invokeTool },
    {
      method: 'GET',
      path: '/mcp/stats',
      handle: (_request, response) => sendJson(response, 200, serverStatistics(shown())),
    },
  ];
}

/** Aborts when the response is closed before it was finished. */
function callerLeft(response: InternalResponse): StopSignal {
  const control = new StopControl();
  response.once('close', () => {
    if (!response.writableFinished) control.abort();
  });
  return control;
}

function readInvocation(body: Buffer): { tool: string; args: ToolArguments } {
  const value = body.length === 0 ? undefined : parseJson(body);
  if (!isObject(value)) throw new HubError('invalid_request', 'The body must be a JSON object');
  if (typeof value.tool !== 'string' || value.tool === '') {
    throw new HubError('invalid_request', 'tool must be a text', { param: 'tool' });
  }
  if (value.arguments === undefined) return { tool: value.tool, args: { value: {}, text: '{}' } };
  if (!isObject(value.arguments)) {
    throw new HubError('invalid_request', 'arguments must be an object', { param: 'arguments' });
  }
  const text = memberText(body.toString('utf8'), 'arguments') ?? '{}';
  return { tool: value.tool, args: { value: value.arguments, text } };
}
