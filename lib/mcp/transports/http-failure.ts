import { ToolFailure } from '../failure.ts';

/**
 * The failure of an HTTP status. A 404 within a session means that the server has forgotten it, whatever the
 * text says (MCP streamable HTTP); the call was not run then.
 */
export function httpFailure(status: number, message: string | undefined, inSession: boolean): ToolFailure {
  if (status === 404 && inSession) return sessionLost();
  const said = message === undefined ? '' : `: ${message}`;
  if (status === 401) return refusedBy('unauthorized', 401, said);
  if (status === 403) return refusedBy('forbidden', 403, said);
  return new ToolFailure(
    'transport',
    `http_${status}`,
    `The tool server answered with HTTP ${status}${said}`,
  );
}

function refusedBy(code: string, status: number, said: string): ToolFailure {
  return new ToolFailure('transport', code, `The tool server answered with HTTP ${status}${said}`, {
    operator: true,
  });
}

export function sessionLost(): ToolFailure {
  return new ToolFailure('transport', 'session_lost', 'The tool server has forgotten the session', {
    neverSent: true,
  });
}

export function streamCut(): ToolFailure {
  return new ToolFailure('transport', 'stream_cut', 'The tool server ended its answer before the result');
}

/** A body that ended, or had no business to be there, without the answer in it. */
export function noReply(contentType: string): ToolFailure {
  return new ToolFailure(
    'protocol',
    'bad_message',
    `The tool server answered without a result (${contentType === '' ? 'no content type' : contentType})`,
  );
}

/** Statuses by which servers of the older HTTP+SSE transport refuse to be posted to (MCP, backwards compatibility). */
export function isOlderTransport(status: number): boolean {
  return status === 400 || status === 404 || status === 405;
}

/** What the body of an HTTP error says: a JSON-RPC error's message and the request that it answers. */
export function errorText(contentType: string | undefined, body: string): { message?: string; id?: unknown } {
  if (!/\bjson\b/i.test(contentType ?? '')) return {};
  try {
    const { error, id }: { error?: { message?: unknown }; id?: unknown } = JSON.parse(body);
    return typeof error?.message === 'string' ? { message: error.message.slice(0, 300), id } : {};
  } catch {
    return {};
  }
}
