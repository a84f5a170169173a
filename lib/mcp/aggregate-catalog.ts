import { type ToolRegistry, visibleTools } from './registry.ts';
import { exposedNames } from './tool-names.ts';
import type { ToolServer } from './tool-server.ts';

/** All tools of all servers under one set of names, as `POST /mcp` offers them. */
export interface AggregateCatalog {
  /** JSON text of the `tools` list. */
  list(): string;
  find(name: string): { server: ToolServer; tool: string } | undefined;
  /** Reads the servers' lists again; true when what is offered has changed. */
  refresh(): boolean;
}

export function createAggregateCatalog(registry: ToolRegistry): AggregateCatalog {
  let text = '[]';
  let byName = new Map<string, { server: ToolServer; tool: string }>();

  function refresh(): boolean {
    const definitions = new Map<string, Readonly<Record<string, unknown>>>();
    const addresses = registry.servers.flatMap((server) =>
      visibleTools(server).map((tool) => {
        definitions.set(`${server.name}\0${tool.name}`, tool.definition);
        return { server: server.name, tool: tool.name };
      }),
    );
    const names = exposedNames(addresses);
    byName = new Map(
      [...names].map(([name, { server, tool }]) => [name, { server: registry.find(server), tool }]),
    );
    const before = text;
    text = JSON.stringify(
      [...names].map(([name, { server, tool }]) => ({ ...definitions.get(`${server}\0${tool}`), name })),
    );
    return text !== before;
  }

  refresh();
  return { list: () => text, find: (name) => byName.get(name), refresh };
}
