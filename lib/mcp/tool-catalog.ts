import { setImmediate as nextTurn } from 'node:timers/promises';
import { ToolFailure } from './failure.ts';
import type { ArgumentCheck, SchemaCompiler } from './input-schema.ts';
import { isObject } from './json-value.ts';
import type { RpcClient } from './rpc-client.ts';

/** A tool as its server lists it. */
export interface Tool {
  name: string;
  /** Everything that the server said, unknown members included. */
  definition: Readonly<Record<string, unknown>>;
  checkArguments: ArgumentCheck;
}

export interface InvalidTool {
  name: string;
  reason: string;
}

/** What one complete listing of a server gave. */
export interface ToolCatalog {
  tools: ReadonlyMap<string, Tool>;
  /** Tools that are not offered, with the reason. */
  invalid: readonly InvalidTool[];
}

const MAX_PAGES = 1000;
const MAX_TOOLS = 10_000;
const MAX_INVALID = 200;
/** Compiling schemas shares the process with everything else: hand over after so many milliseconds. */
const SLICE_MS = 8;

/**
 * Reads the whole tool list of a server, page by page. One bad tool costs only itself: it goes to `invalid` with
 * its reason. That includes a schema that does not compile: offered unchecked, it would reach the models, and
 * providers refuse a request in which any tool has a broken schema.
 *
 * @throws ToolFailure when the list cannot be read.
 */
export async function readToolCatalog(
  client: RpcClient,
  compiler: SchemaCompiler,
  signal: AbortSignal,
): Promise<ToolCatalog> {
  const builder = createCatalogBuilder(compiler);
  let cursor: string | undefined;
  const seen = new Set<string>();
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? '{}' : JSON.stringify({ cursor });
    const { value } = await client.request('tools/list', params, { signal });
    if (!Array.isArray(value.tools)) throw badList('it holds no tools');
    await builder.add(value.tools);
    if (builder.size() > MAX_TOOLS) throw badList(`it has more than ${MAX_TOOLS} tools`);
    cursor = typeof value.nextCursor === 'string' && value.nextCursor !== '' ? value.nextCursor : undefined;
    if (cursor === undefined) return builder.catalog();
    if (seen.has(cursor)) throw badList('it repeats a cursor');
    seen.add(cursor);
  }
  throw badList(`it has more than ${MAX_PAGES} pages`);
}

/** Collects tool definitions, setting the bad ones apart. */
export function createCatalogBuilder(compiler: SchemaCompiler) {
  const tools = new Map<string, Tool>();
  const invalid: InvalidTool[] = [];

  function addOne(candidate: unknown): void {
    const definition = isObject(candidate) ? candidate : {};
    const { name } = definition;
    if (typeof name !== 'string' || name === '') {
      reject('(unnamed)', 'it has no name');
    } else if (tools.has(name)) {
      reject(name, 'another tool has the same name');
    } else {
      try {
        tools.set(name, { name, definition, checkArguments: checkFor(definition) });
      } catch (error) {
        reject(name, error instanceof Error ? error.message : String(error));
      }
    }
  }

  function checkFor(definition: Readonly<Record<string, unknown>>): ArgumentCheck {
    const schema = definition.inputSchema;
    if (!isObject(schema)) throw new Error('inputSchema is missing or not an object');
    if (schema.type !== undefined && schema.type !== 'object') {
      throw new Error('the type of inputSchema is not object');
    }
    return compiler.compile(schema);
  }

  function reject(name: string, reason: string): void {
    if (invalid.length < MAX_INVALID)
      invalid.push({ name: name.slice(0, 200), reason: reason.slice(0, 500) });
  }

  return {
    async add(candidates: readonly unknown[]): Promise<void> {
      let sliceStart = performance.now();
      for (const candidate of candidates) {
        addOne(candidate);
        if (performance.now() - sliceStart < SLICE_MS) continue;
        await nextTurn();
        sliceStart = performance.now();
      }
    },
    addOne,
    /** Sets a tool apart that the owner itself found bad. */
    reject,
    size: () => tools.size + invalid.length,
    catalog: (): ToolCatalog => ({ tools, invalid }),
  };
}

function badList(why: string): ToolFailure {
  return new ToolFailure('protocol', 'bad_tool_list', `The tool list cannot be read: ${why}`);
}
