import { loadDotEnv, readEnvironment } from '../lib/config/environment.ts';
import { loadConfig } from '../lib/config/load.ts';
import { originOf } from '../lib/process/listen.ts';
import { openLogs } from '../lib/process/open-logs.ts';
import { StartFault } from '../lib/process/start-fault.ts';
import { onStopSignals } from '../lib/process/stop-signals.ts';
import { createCompanion } from './companion.ts';
import { composeCapabilities } from './compose.ts';

const SHORTEST_TOKEN = 32;

/** Runs without a gateway of its own (contract §1, `npm run companion`). */
export async function runAlone(): Promise<void> {
  loadDotEnv(process.cwd());
  const environment = readEnvironment(process.env);
  const token = environment.ailinkToken ?? '';
  if (token.length < SHORTEST_TOKEN) {
    throw new StartFault(`AILINK_TOKEN must be set, with at least ${SHORTEST_TOKEN} characters`);
  }
  const loaded = loadConfig({ path: environment.configPath, env: process.env });
  const logs = openLogs({ config: loaded.config.logging, secrets: loaded.secrets });
  for (const warning of loaded.warnings) logs.logger('error', 'config').warn(warning);
  const companion = createCompanion({
    loaded,
    token,
    logs,
    capabilities: composeCapabilities({ loaded, logs, outboundProxy: environment.outboundProxy }),
  });
  onStopSignals(
    () => void companion.stop(loaded.config.hub.shutdownTimeout).then(() => process.exit(0)),
    () => process.exit(1),
    { echoed: environment.startedByNpm },
  );
  const bound = await companion.start({
    host: environment.ailinkHost ?? '0.0.0.0',
    port: environment.ailinkPort,
    sockets: null,
  });
  console.log(`ai-link listening on ${originOf('http', bound)}`);
}
