import type { Express } from 'express';
import type { CompanionClient } from '../companion-client/companion-client.ts';
import { createCompanionClient } from '../companion-client/create-client.ts';
import { readEnvironment } from '../config/environment.ts';
import { ConfigError, loadConfig } from '../config/load.ts';
import type { LoggingConfig } from '../config/schema/logging.ts';
import { errorBody, HubError } from '../errors/hub-error.ts';
import type { RouteGroup } from '../http/route.ts';
import { openLogs } from '../process/open-logs.ts';
import { createHubApp, type HubParts } from './hub-app.ts';

/** A handler's route groups, made of the parts. */
export type ComposeGroups = (parts: HubParts) => RouteGroup[];

const PROBE_TIMEOUT_MS = 1000;

/**
 * The app of one handler, made at its cold start from the configuration and the environment: `AILINK_URL` and
 * `AILINK_TOKEN` name the companion.
 * @throws ConfigError with every fault of the configuration.
 */
export function openHandlerApp(composeGroups: ComposeGroups): Express {
  const environment = readEnvironment(process.env);
  const { ailinkUrl, ailinkToken } = environment;
  if (ailinkUrl === undefined || ailinkToken === undefined) {
    throw new ConfigError(['AILINK_URL and AILINK_TOKEN must name a running companion']);
  }
  const loaded = loadConfig({ path: environment.configPath, env: process.env });
  const { config } = loaded;
  const logs = openLogs({
    config: toConsole(config.logging),
    secrets: [...loaded.secrets, ailinkToken],
    // Lambda freezes the process after the answer: a record that waits would come with the next request.
    flushAfterMs: 0,
  });
  const client = createCompanionClient({
    address: { url: ailinkUrl },
    token: ailinkToken,
    concurrency: config.hub.limits.concurrency,
    configHash: loaded.hash,
    logger: logs.logger('error', 'companion-client'),
  });
  // A Lambda listens nowhere; on a developer's machine HUB_HOST says where serverless-offline does.
  const bindHost = environment.hubHost;
  const companion = askedEachTime(client);
  const { outboundProxy } = environment;
  return createHubApp({ loaded, logs, companion, bindHost, outboundProxy }, composeGroups).app;
}

/** The platform keeps what a handler writes to its console, and has no disk for files. */
function toConsole(logging: LoggingConfig): LoggingConfig {
  const types = { ...logging.types };
  for (const type of Object.keys(types) as (keyof typeof types)[]) {
    types[type] = { ...types[type], console: types[type].console || types[type].file, file: false };
  }
  return { ...logging, types };
}

/**
 * A handler sleeps between requests and cannot watch the companion. Its state counts as up until somebody asks
 * it, and whoever shows it has asked before.
 */
function askedEachTime(client: CompanionClient): CompanionClient {
  return {
    ...client,
    status: () => ({ ...client.status(), status: 'up' }),
    async call(request) {
      if (client.status().status !== 'up') await client.probe(PROBE_TIMEOUT_MS);
      return client.call(request);
    },
  };
}

/** The answer for one that was cut off after its first byte, where the platform sends nothing before the last. */
export function cutAnswer(): { statusCode: number; headers: Record<string, string>; body: string } {
  const error = new HubError('upstream_unavailable', 'The answer was cut off before its end');
  return {
    statusCode: error.status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(errorBody(error)),
  };
}
