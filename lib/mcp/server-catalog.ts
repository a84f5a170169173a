import type { Logger } from '../logging/logger.ts';
import { toToolFailure } from './failure.ts';
import { createFollowUp } from './follow-up.ts';
import type { SchemaCompiler } from './input-schema.ts';
import type { RpcClient } from './rpc-client.ts';
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts';

/** The tools of one server over all its connections. */
export interface ServerCatalog {
  /** The last complete listing; undefined before the first one. */
  current(): ToolCatalog | undefined;
  /** Milliseconds since the last complete listing. */
  ageMs(): number;
  /** Takes a new listing. */
  replace(listed: ToolCatalog): void;
  /** Reads the tools again from the open connection, in the background. */
  relist(): void;
}

export interface ServerCatalogDeps {
  name: string;
  compiler: SchemaCompiler;
  /** Milliseconds for the full tool list. */
  timeoutMs: number;
  /** The client of the open connection, if there is one. */
  client(): RpcClient | undefined;
  log: Logger;
  mask(text: string): string;
  /** A new listing has come. */
  changed(): void;
  now(): number;
}

export function createServerCatalog(deps: ServerCatalogDeps): ServerCatalog {
  const { name, log, mask, now } = deps;
  let catalog: ToolCatalog | undefined;
  let listedAt = 0;

  function replace(listed: ToolCatalog): void {
    catalog = listed;
    listedAt = now();
    for (const { name: tool, reason } of listed.invalid) {
      log.warn('A tool is not offered', { server: name, tool, reason: mask(reason) });
    }
    deps.changed();
  }

  const relist = createFollowUp(async () => {
    const client = deps.client();
    if (client === undefined) return;
    try {
      const signal = AbortSignal.timeout(deps.timeoutMs);
      const listed = await readToolCatalog(client, deps.compiler, signal);
      if (deps.client() === client) replace(listed);
    } catch (error) {
      const { code, message } = toToolFailure(error);
      log.warn('The changed tool list could not be read; the former one stays', {
        server: name,
        code,
        reason: mask(message),
      });
    }
  });

  return { current: () => catalog, ageMs: () => now() - listedAt, replace, relist };
}
