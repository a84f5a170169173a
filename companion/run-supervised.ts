import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { readEnvironment } from '../lib/config/environment.ts';
import { createRelaySink } from '../lib/logging/relay.ts';
import { openLogs } from '../lib/process/open-logs.ts';
import { onStopSignals } from '../lib/process/stop-signals.ts';
import { createCompanion } from './companion.ts';
import { composeCapabilities } from './compose.ts';
import type { GatewayLink } from './gateway-link.ts';

/** Without a gateway nobody reads an answer: what does not end in this time is left to the system, in ms. */
const ORPHAN_MS = 1500;
/** A signal that went to the whole process group reached the gateway too, which says so within this time, in ms. */
const GATEWAY_SPEAKS_MS = 300;

/** Runs as the child of a gateway: ends when it says so, and by itself when it is gone. */
export async function runSupervised(link: GatewayLink): Promise<void> {
  let gatewayStops = false;
  let leave = (): void => process.exit(0);
  onStopSignals(
    () => setTimeout(() => gatewayStops || leave(), GATEWAY_SPEAKS_MS),
    () => {},
  );

  const { loaded, token, sockets, host, port } = await link.start;
  const logs = openLogs({ config: loaded.config.logging, secrets: loaded.secrets, sink: createRelaySink() });
  const companion = createCompanion({
    loaded,
    token,
    logs,
    capabilities: composeCapabilities({
      loaded,
      logs,
      outboundProxy: readEnvironment(process.env).outboundProxy,
    }),
  });
  const shutdownTimeout = loaded.config.hub.shutdownTimeout;

  const stop = (timeoutMs: number) => void companion.stop(timeoutMs).then(() => process.exit(0));
  leave = () => {
    link.tell({ type: 'leaving' });
    stop(shutdownTimeout);
  };
  link.on({
    stopping() {
      gatewayStops = true;
      companion.announceStop();
    },
    stop,
    gone() {
      setTimeout(() => process.exit(0), ORPHAN_MS);
      if (sockets !== null) rmSync(dirname(sockets.http), { recursive: true, force: true });
      void companion.abandon().then(() => process.exit(0));
    },
  });
  // A companion that was killed leaves its sockets behind.
  for (const path of Object.values(sockets ?? {})) rmSync(path, { force: true });
  const bound = await companion.start({ host, port, sockets });
  link.tell({ type: 'ready', ...bound });
}
