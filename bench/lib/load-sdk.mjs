/** Closed-loop tool calls by the MCP SDK's own client over stdio: what the tool server gives without any gateway. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { distribution } from './stats.mjs';

/** One client for the whole run, so that client and server are warm. */
let connected;

function connect(server) {
  connected ??= (async () => {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: server, stderr: 'ignore' }),
    );
    return client;
  })();
  return connected;
}

/**
 * @param {{server: string[], call: {name: string, arguments: object}, connections: number, seconds: number,
 *   marker: string}} job `connections` calls are in flight at once
 */
export async function sdkLoad(job) {
  const client = await connect(job.server);
  const latencies = [];
  let failed = 0;
  const startedAt = performance.now();
  const deadline = startedAt + job.seconds * 1000;
  await Promise.all(
    Array.from({ length: job.connections }, async () => {
      while (performance.now() < deadline) {
        const sentAt = performance.now();
        const result = await client.callTool(job.call);
        if (result.content?.[0]?.text?.includes(job.marker)) latencies.push(performance.now() - sentAt);
        else failed++;
      }
    }),
  );
  return {
    requests: latencies.length,
    failed,
    requestsPerSecond: latencies.length / ((performance.now() - startedAt) / 1000),
    latencyMs: distribution(latencies),
    processorMicros: Number.NaN,
  };
}
