import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { CompanionClient } from '../lib/companion-client/companion-client.ts';
import { createCompanionClient } from '../lib/companion-client/create-client.ts';
import type { Environment, LoadedConfig } from '../lib/config/loaded.ts';
import type { ProcessLogs } from '../lib/logging/create-logs.ts';
import { parseRelayLine } from '../lib/logging/relay.ts';
import { originOf } from '../lib/process/listen.ts';
import { StartFault } from '../lib/process/start-fault.ts';
import { createCompanionProcess } from './companion-process.ts';
import { createPrivateSockets } from './private-socket.ts';

export interface OpenCompanionDeps {
  environment: Environment;
  loaded: LoadedConfig;
  logs: ProcessLogs;
}

/** The companion of this gateway, whether it is a child or runs elsewhere. */
export interface OpenedCompanion {
  client: CompanionClient;
  /** Resolves when it may be called. @throws StartFault when a child cannot start. */
  start(): Promise<void>;
  announceStop(): void;
  /** Ends a child, which may finish its calls for `timeoutMs`; leaves a companion elsewhere alone. */
  stop(timeoutMs: number): Promise<void>;
}

/** A gateway listens after this time at the latest: without AI-Link it still answers, and says so. In ms. */
const LONGEST_WAIT_MS = 10_000;
const PROBE_EVERY_MS = 2000;
const PROBE_TIMEOUT_MS = 1000;

export function openCompanion(deps: OpenCompanionDeps): OpenedCompanion {
  const { ailinkUrl, ailinkToken } = deps.environment;
  return ailinkUrl !== undefined && ailinkToken !== undefined
    ? openElsewhere(deps, ailinkUrl, ailinkToken)
    : openChild(deps);
}

function openElsewhere({ loaded, logs }: OpenCompanionDeps, url: string, token: string): OpenedCompanion {
  const client = createCompanionClient({
    address: { url },
    token,
    concurrency: loaded.config.hub.limits.concurrency,
    configHash: loaded.hash,
    logger: logs.logger('error', 'companion-client'),
  });
  let probing: NodeJS.Timeout | undefined;
  return {
    client,
    async start() {
      await client.probe(PROBE_TIMEOUT_MS);
      probing = setInterval(() => void client.probe(PROBE_TIMEOUT_MS), PROBE_EVERY_MS).unref();
    },
    announceStop() {},
    async stop() {
      clearInterval(probing);
      await client.close();
    },
  };
}

function openChild({ environment, loaded, logs }: OpenCompanionDeps): OpenedCompanion {
  const token = randomBytes(32).toString('hex');
  const sockets = createPrivateSockets();
  if (sockets === null && environment.ailinkPort === 0) {
    throw new StartFault(
      'No directory can hold a private socket for AI-Link: set AILINK_PORT to a fixed port',
    );
  }
  const strayLines = logs.logger('error', 'ai-link');
  const child = createCompanionProcess({
    entry: fileURLToPath(new URL('companion.mjs', import.meta.url)),
    loaded,
    token,
    sockets,
    host: '127.0.0.1',
    port: environment.ailinkPort,
    logger: logs.logger('error', 'supervisor'),
    onLine(stream, line) {
      const record = stream === 'stdout' ? parseRelayLine(line) : undefined;
      if (record !== undefined) logs.ingest(record.type, record.line);
      else strayLines.error(line, { stream });
    },
    onReady: (address) => console.log(`ai-link listening on ${originOf('http', address)}`),
  });
  const client = createCompanionClient({
    address:
      sockets === null
        ? { url: originOf('http', { host: '127.0.0.1', port: environment.ailinkPort }) }
        : { sockets },
    token,
    concurrency: loaded.config.hub.limits.concurrency,
    supervised: child.status,
    logger: logs.logger('error', 'companion-client'),
  });
  return {
    client,
    start: () => child.start(LONGEST_WAIT_MS),
    announceStop: child.announceStop,
    async stop(timeoutMs) {
      await child.stop(timeoutMs);
      await client.close();
    },
  };
}
