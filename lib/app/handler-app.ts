import type { Express } from 'express';
import { createAdminGuard } from '../auth/admin-key.ts';
import { createAuthenticator } from '../auth/authenticator.ts';
import type { CompanionClient } from '../companion-client/companion-client.ts';
import { createCompanionClient } from '../companion-client/create-client.ts';
import { readEnvironment } from '../config/environment.ts';
import { ConfigError, loadConfig } from '../config/load.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import type { LoggingConfig } from '../config/schema/logging.ts';
import { parseSize } from '../config/size.ts';
import { errorBody, HubError } from '../errors/hub-error.ts';
import { createClientAddresses } from '../http/client-ip.ts';
import { createOriginRules, type OriginRules } from '../http/origin.ts';
import type { RouteGroup } from '../http/route.ts';
import type { Logs } from '../logging/logger.ts';
import { createMask } from '../logging/mask.ts';
import { openLogs } from '../process/open-logs.ts';
import { createCompanionStore } from '../store/companion-store.ts';
import { createApp } from './create-app.ts';

/** What a handler's route groups are made of. */
export interface HandlerParts {
  loaded: LoadedConfig;
  config: LoadedConfig['config'];
  companion: CompanionClient;
  origins: OriginRules;
  logs: Logs;
  /** `hub.limits.jsonBody` in bytes. */
  bodyLimit: number;
  /** A Lambda is never told that it ends. */
  draining(): false;
}

/** A handler's route groups, made of the parts. */
export type ComposeGroups = (parts: HandlerParts) => RouteGroup[];

/** A call of a request's own way, such as the count of a wrong admin key, may take so long; in ms. */
const STORE_TIMEOUT_MS = 2000;
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
  const addresses = createClientAddresses(config.hub.security.trustProxy);
  const origins = createOriginRules({
    publicUrl: config.hub.publicUrl,
    corsOrigins: config.hub.cors.origins,
    addresses,
  });
  const groups = composeGroups({
    loaded,
    config,
    companion: askedEachTime(client),
    origins,
    logs,
    bodyLimit: parseSize(config.hub.limits.jsonBody),
    draining: () => false,
  });
  return createApp(groups, {
    hub: config.hub,
    logs,
    addresses,
    origins,
    // A Lambda listens nowhere; on a developer's machine HUB_HOST says where serverless-offline does.
    authenticator: createAuthenticator({
      enabled: config.auth.enabled,
      origins,
      bindHost: environment.hubHost,
    }),
    adminGuard: createAdminGuard({
      admin: config.auth.admin,
      store: createCompanionStore(client, { timeoutMs: STORE_TIMEOUT_MS }),
      logger: logs.logger('access', 'admin'),
    }),
    mask: createMask(loaded.secrets),
  });
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
