import { startFaultText } from '../lib/process/start-fault-text.ts';
import { runGateway } from './run-gateway.ts';

/** The hub's process: the gateway, and with it the companion that it spawns unless `AILINK_URL` names one. */
await runGateway({ alone: process.argv.includes('--alone') }).catch((error) => {
  console.error(startFaultText(error));
  process.exit(1);
});
