import type { TargetConfig } from '../../config/schema/targets.ts';

/** Set by the HTTP client alone. */
const CLIENT_OWNED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The headers of every call to a target, by whether its answer is streamed. */
export interface CallHeaders {
  whole: readonly string[];
  stream: readonly string[];
}

/**
 * Builds a target's headers once, at start. The target's own `headers` win over the provider's; nothing of the
 * caller's request is among them, least of all its credentials.
 */
export function buildCallHeaders(target: TargetConfig, credentials: Record<string, string>): CallHeaders {
  const build = (accept: string) => {
    const headers = new Map<string, [string, string]>();
    const add = (name: string, value: string) => headers.set(name.toLowerCase(), [name, value]);
    add('content-type', 'application/json');
    add('accept', accept);
    add('accept-encoding', 'identity');
    add('user-agent', 'hub');
    for (const [name, value] of Object.entries(credentials)) add(name, value);
    for (const [name, value] of Object.entries(target.headers)) {
      if (!CLIENT_OWNED.has(name.toLowerCase())) add(name, value);
    }
    return [...headers.values()].flat();
  };
  return { whole: build('application/json'), stream: build('text/event-stream') };
}
