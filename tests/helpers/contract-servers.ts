import { createHash } from 'node:crypto';
import { ADMIN_KEY, startHubProcess, stopAllHubs } from './hub-process.ts';
import { everythingStdio } from './mcp-everything.ts';

/** A server that the contract tests run against. */
export interface ContractServer {
  name: 'gateway' | 'serverless-offline';
  url: string;
  /** Main authentication is on; its bearer is `BEARER`. */
  auth: boolean;
}

/** An origin that may call the contract servers from a browser. */
export const ALLOWED_ORIGIN = 'https://app.example';
/** `hub.limits.jsonBody` of the contract servers, in bytes. */
export const BODY_LIMIT = 64 * 1024;

/** The bearer of the servers that ask for one, and the identity behind it. */
export const BEARER = 'bearer-of-contract-tests-0123456789';
export const IDENTITY = 'contract-tester';

const openConfig = {
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
    servers: [everythingStdio()],
  },
  videohost: {
    accounts: [
      {
        id: 'main',
        client_id: 'client-of-contract-tests',
        client_secret: 'client-secret-of-contract-tests',
        redirect_uri: 'https://hub.example/videohost/auth/idp/callback?target=main',
      },
    ],
  },
  auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
  swagger: { enabled: true },
};

const closedConfig = {
  ...openConfig,
  auth: {
    ...openConfig.auth,
    enabled: true,
    type: 'apiKey',
    apiKeys: [{ id: IDENTITY, sha256: createHash('sha256').update(BEARER).digest('hex') }],
    session: { cookie: { secret: 'session-secret-0123456789-0123456789' } },
  },
};

/** Starts the gateway and the handlers under serverless-offline, each with and without main authentication. */
export async function startServers(): Promise<ContractServer[]> {
  const started = await Promise.allSettled([
    startOne('gateway', false),
    startOne('serverless-offline', false),
    startOne('gateway', true),
    startOne('serverless-offline', true),
  ]);
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    await stopAllHubs();
    throw failed.reason;
  }
  return started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

async function startOne(name: ContractServer['name'], auth: boolean): Promise<ContractServer> {
  const { url } = await startHubProcess({
    command: name === 'gateway' ? 'hub' : 'offline',
    config: auth ? closedConfig : openConfig,
    // With authentication on the hub would listen on all addresses.
    env: auth ? { HUB_HOST: '127.0.0.1' } : {},
  });
  return { name, url, auth };
}

/** Ends them all. */
export const stopServers = stopAllHubs;
