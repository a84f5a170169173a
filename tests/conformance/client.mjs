/**
 * The client of the runner's client scenarios: the SDK's own, speaking to the runner's server directly, or through a
 * hub that this starts. Usage: `node client.mjs direct|hub <server url>`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { start } from './processes.mjs';

const [way, url] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const SERVER = 'conformance';

async function startHub() {
  const folder = mkdtempSync(join(tmpdir(), 'hub-conformance-'));
  writeFileSync(
    join(folder, 'config.yaml'),
    JSON.stringify({ mcp: { servers: [{ name: SERVER, transport: 'http', url }] } }),
  );
  const hub = await start('scripts/run.mjs', ['hub'], /hub listening on (\S+)/, {
    cwd: folder,
    env: { HUB_CONFIG: join(folder, 'config.yaml'), HUB_PORT: '0', AILINK_PORT: '0' },
  });
  return {
    address: `${hub.match[1]}/mcp`,
    stop: async () => {
      await hub.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const capabilities =
  scenario === 'elicitation-sep1034-client-defaults'
    ? { elicitation: { form: { applyDefaults: true } } }
    : {};
const hub = way === 'hub' ? await startHub() : undefined;
const client = new Client({ name: 'conformance-client', version: '1.0.0' }, { capabilities });
if (capabilities.elicitation !== undefined) {
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }));
}
try {
  await client.connect(new StreamableHTTPClientTransport(new URL(hub?.address ?? url)));
  const { tools } = await client.listTools();
  const numbers = { a: 5, b: 3 };
  for (const { name } of tools) {
    await client.callTool({ name, arguments: name.endsWith('add_numbers') ? numbers : {} });
  }
} finally {
  await client.close();
  await hub?.stop();
}
