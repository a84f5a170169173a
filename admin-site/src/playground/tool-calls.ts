import { CallFailure, messageOf } from '../admin-api.ts';

/** A row of `GET /mcp/tools`. */
export interface ListedTool {
  server: string;
  name: string;
  title?: string;
  description?: string;
  inputSchema: unknown;
}

/** Body of `POST /mcp/invoke`. */
export interface ToolResult {
  content: Record<string, unknown>[];
  structuredContent?: unknown;
  isError: boolean;
}

interface Call {
  hub: string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

export async function listTools(call: Call, server: string): Promise<ListedTool[]> {
  const body = await send<{ tools: ListedTool[] }>(
    call,
    `/mcp/tools?server=${encodeURIComponent(server)}`,
    {},
  );
  return body.tools;
}

export function invokeTool(call: Call, server: string, tool: string, args: unknown): Promise<ToolResult> {
  return send<ToolResult>(call, '/mcp/invoke', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-target': server },
    body: JSON.stringify({ tool, arguments: args }),
  });
}

async function send<T>({ hub, headers, signal }: Call, path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(hub + path, {
      ...init,
      headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
      credentials: 'omit',
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CallFailure(0, 'The hub does not answer');
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok && body !== undefined) return body as T;
  throw new CallFailure(response.status, messageOf(body) ?? `Status ${response.status}`);
}
