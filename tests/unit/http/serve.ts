import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { type AppDeps, createApp, upgradeListener } from '../../../lib/app/create-app.ts';
import { createAuthenticator } from '../../../lib/auth/authenticator.ts';
import { HubError } from '../../../lib/errors/hub-error.ts';
import { createClientAddresses } from '../../../lib/http/client-ip.ts';
import { continueListener } from '../../../lib/http/expect-continue.ts';
import { nodeClasses } from '../../../lib/http/node-classes.ts';
import { createOriginRules } from '../../../lib/http/origin.ts';
import type { Route, RouteGroup } from '../../../lib/http/route.ts';
import { UPGRADE_OPTIONS } from '../../../lib/http/upgrade.ts';
import type { LogFields, Logs } from '../../../lib/logging/logger.ts';

export interface LogRecord {
  type: string;
  level: string;
  message: string;
  fields: LogFields;
}

/** Logs that keep their records. */
export function recordingLogs(): Logs & { records: LogRecord[] } {
  const records: LogRecord[] = [];
  return {
    records,
    logger(type) {
      const at =
        (level: string) =>
        (message: string, fields: LogFields = {}) => {
          records.push({ type, level, message, fields });
        };
      return {
        debug: at('debug'),
        info: at('info'),
        warn: at('warn'),
        error: at('error'),
        enabled: () => true,
      };
    },
    close: () => Promise.resolve(),
  };
}

export interface AppOptions {
  trustProxy?: boolean | string;
  publicUrl?: string;
  corsOrigins?: string[];
  tls?: boolean;
  limits?: Partial<AppDeps['hub']['limits']>;
  /** Address that the hub says it listens on; default 127.0.0.1. */
  bindHost?: string | undefined;
  deps?: Partial<AppDeps>;
}

/** An app as the gateway makes it, with main authentication off unless `deps.authenticator` says otherwise. */
export function makeApp(groups: RouteGroup[], options: AppOptions = {}) {
  const { trustProxy = false, publicUrl, corsOrigins = [], tls = false } = options;
  const logs = recordingLogs();
  const addresses = createClientAddresses(trustProxy);
  const origins = createOriginRules({ publicUrl, corsOrigins, addresses });
  const app = createApp(groups, {
    hub: {
      limits: { concurrency: 100, queue: 100, perCaller: 100, ...options.limits },
      cors: { origins: corsOrigins },
      tls: { enabled: tls },
    },
    logs,
    addresses,
    origins,
    authenticator: createAuthenticator({
      enabled: false,
      origins,
      bindHost: 'bindHost' in options ? options.bindHost : '127.0.0.1',
    }),
    ...options.deps,
  });
  return { app, records: logs.records };
}

/** Lets in whoever says `Bearer good`. */
export const bearerOnly: AppDeps['authenticator'] = {
  authenticate({ headers }) {
    if (headers.authorization !== 'Bearer good')
      throw new HubError('unauthorized', 'Authentication is required');
    return { id: 'anna', label: 'anna' };
  },
};

const servers: Server[] = [];

/** Serves an app on a free port, as the gateway does. */
export async function listen(app: Express): Promise<string> {
  const server = createServer({ ...nodeClasses(app), ...UPGRADE_OPTIONS }, app);
  server.on('checkContinue', continueListener(app));
  server.on('upgrade', upgradeListener(app));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function serve(groups: RouteGroup[], options?: AppOptions) {
  const { app, records } = makeApp(groups, options);
  return { url: await listen(app), records };
}

/** A group of routes under `/v1`, which needs main authentication. */
export function group(...routes: Route[]): RouteGroup {
  return { name: 'test', prefixes: [{ path: '/v1', access: 'main' }], routes };
}

/** To be called after each test. */
export function closeServers(): void {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
}
