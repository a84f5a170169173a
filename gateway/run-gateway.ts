import { upgradeListener } from '../lib/app/create-app.ts';
import { createHubApp } from '../lib/app/hub-app.ts';
import { loadDotEnv, readEnvironment } from '../lib/config/environment.ts';
import { loadConfig } from '../lib/config/load.ts';
import { ensureSetup } from '../lib/config/setup.ts';
import { nodeClasses } from '../lib/http/node-classes.ts';
import { originOf } from '../lib/process/listen.ts';
import { openLogs } from '../lib/process/open-logs.ts';
import { StartFault } from '../lib/process/start-fault.ts';
import { onStopSignals } from '../lib/process/stop-signals.ts';
import { checkTokenDirectory } from './check-token-directory.ts';
import { composeGroups } from './compose-groups.ts';
import { openCompanion } from './open-companion.ts';
import { createGatewayServer } from './server.ts';
import { readTls } from './tls.ts';

export interface RunGatewayOptions {
  /** Never spawn a companion: `AILINK_URL` and `AILINK_TOKEN` are required (`npm run gateway`). */
  alone: boolean;
}

/** Starts the gateway; resolves when it listens. Rejects with what the operator must mend. */
export async function runGateway(options: RunGatewayOptions): Promise<void> {
  const directory = process.cwd();
  if (!options.alone) setUpFirstStart(directory);
  loadDotEnv(directory);
  const environment = readEnvironment(process.env);
  if (options.alone && (environment.ailinkUrl === undefined || environment.ailinkToken === undefined)) {
    throw new StartFault('A gateway alone needs AILINK_URL and AILINK_TOKEN of a running companion');
  }
  const loaded = loadConfig({ path: environment.configPath, env: process.env });
  const { config } = loaded;
  const tls = readTls(config.hub.tls);
  checkTokenDirectory(config.videohost);
  const logs = openLogs({ config: config.logging, secrets: loaded.secrets });
  const logger = logs.logger('error', 'gateway');
  for (const warning of loaded.warnings) logger.warn(warning);
  // An unauthenticated hub stays on this machine unless told otherwise; loadConfig warns when it was.
  const host = config.hub.host ?? (config.auth.enabled ? '0.0.0.0' : '127.0.0.1');

  const companion = openCompanion({ environment, loaded, logs });
  const { app, start, close } = createHubApp(
    {
      loaded,
      logs,
      companion: companion.client,
      bindHost: host,
      outboundProxy: environment.outboundProxy,
    },
    (parts) => composeGroups(parts, () => server.draining()),
  );
  const server = createGatewayServer({
    app,
    classes: nodeClasses(app),
    upgrade: upgradeListener(app),
    tls,
  });

  async function stop(): Promise<void> {
    const { shutdownTimeout } = config.hub;
    const begun = performance.now();
    companion.announceStop();
    const cut = await server.drain(AbortSignal.timeout(shutdownTimeout));
    if (cut > 0) logger.warn('Requests were cut at the end of the shutdown time', { requests: cut });
    await close();
    await companion.stop(Math.max(0, Math.ceil(shutdownTimeout - (performance.now() - begun))));
    await logs.close();
    process.exit(0);
  }
  // At a second signal a spawned companion notices the end of its gateway, and ends its tool servers itself.
  onStopSignals(
    () => void stop(),
    () => process.exit(1),
    { echoed: environment.startedByNpm },
  );

  await companion.start();
  await start();
  const bound = await server.listen(host, config.hub.port);
  console.log(`hub listening on ${originOf(server.scheme, bound)}`);
}

function setUpFirstStart(directory: string): void {
  const { configPath } = readEnvironment(process.env);
  if (ensureSetup({ directory, configPath, env: process.env }) !== 'written') return;
  console.log(
    'First start: .env written. Its ADMIN_API_KEY opens /admin/panel, its SESSION_SECRET signs cookies',
  );
}
