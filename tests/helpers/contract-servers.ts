import { join } from 'node:path';
import { ADMIN_KEY, root, startHubProcess, stopAllHubs } from './hub-process.ts';

/** A server that the contract tests run against. */
export interface ContractServer {
  name: 'gateway' | 'serverless-offline';
  url: string;
}

/** An origin that may call the contract servers from a browser. */
export const ALLOWED_ORIGIN = 'https://app.example';
/** `hub.limits.jsonBody` of the contract servers, in bytes. */
export const BODY_LIMIT = 64 * 1024;

const config = {
  hub: { limits: { jsonBody: BODY_LIMIT }, cors: { origins: [ALLOWED_ORIGIN] } },
  targets: [
    { id: 'echo', provider: 'echo', options: { model: 'echo-1' } },
    {
      id: 'nobody',
      provider: 'openai-compatible',
      apiKey: 'sk-upstream-secret-0123456789',
      baseUrl: 'http://127.0.0.1:9/v1',
      retry: { attempts: 0 },
    },
  ],
  mcp: {
    servers: [
      {
        name: 'everything',
        command: 'node',
        args: [join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
      },
    ],
  },
  auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
};

/** Starts the gateway and the handlers under serverless-offline, with one configuration. */
export async function startServers(): Promise<ContractServer[]> {
  const started = await Promise.allSettled([
    startHubProcess({ config }),
    startHubProcess({ config, command: 'offline', readyTimeoutMs: 60_000 }),
  ]);
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await stopAllHubs();
    throw failed.reason;
  }
  const [gateway, offline] = started.map((one) => (one.status === 'fulfilled' ? one.value.url : ''));
  return [
    { name: 'gateway', url: gateway ?? '' },
    { name: 'serverless-offline', url: offline ?? '' },
  ];
}

/** Ends both. */
export const stopServers = stopAllHubs;
