import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { ToolFailure, toToolFailure } from './failure.ts';
import { isObject } from './json-value.ts';
import type { RpcClient } from './rpc-client.ts';

/** What the hub says that its callers can do for a server, e.g. `{elicitation: {}}`. */
export type ClientCapabilities = Readonly<Record<string, object>>;

/** How a server introduced itself. */
export interface ServerIntroduction {
  serverInfo: Record<string, unknown> | null;
  protocolVersion: string;
  offersTools: boolean;
  /** Whether the server says when its tools change. */
  announcesTools: boolean;
}

/**
 * The MCP handshake: initialize with the newest version, accept any version that the hub speaks, and tell
 * that the session is open.
 *
 * @throws ToolFailure `bad_protocol_version` (for the operator), or what happened.
 */
export async function initialize(
  client: RpcClient,
  version: string,
  capabilities: ClientCapabilities,
  signal: AbortSignal,
): Promise<ServerIntroduction> {
  const params = JSON.stringify({
    protocolVersion: LATEST_PROTOCOL_VERSION,
    capabilities,
    clientInfo: { name: 'hub', version },
  });
  const { value } = await client.request('initialize', params, { signal }).catch((error) => {
    throw versionRefused(toToolFailure(error));
  });
  const { protocolVersion, serverInfo } = value;
  if (typeof protocolVersion !== 'string' || !SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)) {
    throw badVersion(
      `The tool server speaks protocol version ${String(protocolVersion)}, which the hub does not`,
    );
  }
  const { tools } = isObject(value.capabilities) ? value.capabilities : { tools: undefined };
  const announces = isObject(tools) && tools.listChanged === true;
  // Who may be asked is often asked on the standing stream, whatever call the question belongs to.
  client.transport.negotiated(protocolVersion, announces || Object.keys(capabilities).length > 0);
  client.notify('notifications/initialized');
  return {
    serverInfo: isObject(serverInfo) ? serverInfo : null,
    protocolVersion,
    offersTools: tools !== undefined,
    announcesTools: announces,
  };
}

function versionRefused(failure: ToolFailure): ToolFailure {
  const refused = failure.kind === 'tool' && /protocol.?version/i.test(failure.message);
  return refused ? badVersion(failure.message) : failure;
}

function badVersion(message: string): ToolFailure {
  return new ToolFailure('transport', 'bad_protocol_version', message, { operator: true });
}
