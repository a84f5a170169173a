import { defaultConfig, startHubProcess, stopAllHubs } from './hub-process.ts';

/** A server that the contract tests run against. */
export interface ContractServer {
  name: 'gateway' | 'serverless-offline';
  url: string;
}

const config = { ...defaultConfig, hub: { limits: { jsonBody: '64kb' } } };

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
