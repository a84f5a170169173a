import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { McpServerConfig } from '../../lib/config/schema/tools.ts';
import { freePort } from './free-port.ts';
import { root } from './hub-process.ts';
import { until } from './until.ts';

/** Entry of the reference server that ships with the MCP project. */
export const EVERYTHING = join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');

/** The reference server over stdio. */
export function everythingStdio(name = 'everything'): Partial<McpServerConfig> {
  return { name, transport: 'stdio', command: 'node', args: [EVERYTHING, 'stdio'] };
}

export interface EverythingHttp {
  url: string;
  stop(): void;
}

/** The reference server over streamable HTTP (`/mcp`), or the older HTTP+SSE (`/sse`). */
export async function startEverything(mode: 'streamableHttp' | 'sse'): Promise<EverythingHttp> {
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [EVERYTHING, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await until(`server-everything ${mode}`, () => /listening on port|running on port/.test(said), {
    timeoutMs: 15_000,
  });
  const path = mode === 'sse' ? '/sse' : '/mcp';
  return { url: `http://127.0.0.1:${port}${path}`, stop: () => child.kill('SIGKILL') };
}
