import { startFaultText } from '../lib/process/start-fault-text.ts';
import { createGatewayLink } from './gateway-link.ts';
import { runAlone } from './run-alone.ts';
import { runSupervised } from './run-supervised.ts';

/**
 * The companion process: AI-Link and the tool servers. Spawned by a gateway (`--supervised`), or alone beside
 * gateways that name it by AILINK_URL.
 */
if (process.argv.includes('--supervised')) {
  const link = createGatewayLink();
  await runSupervised(link).catch((error) => link.fail(startFaultText(error)));
} else {
  await runAlone().catch((error) => {
    console.error(startFaultText(error));
    process.exit(1);
  });
}
