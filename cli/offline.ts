/**
 * `npm run offline`: the handlers under serverless-offline, which emulates Lambda and API Gateway on this machine,
 * and their companion. Needs no account and no network.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCompanionProcess } from '../gateway/companion-process.ts';
import { splitLines } from '../gateway/split-lines.ts';
import { loadDotEnv, readEnvironment } from '../lib/config/environment.ts';
import { loadConfig } from '../lib/config/load.ts';
import type { Environment, LoadedConfig } from '../lib/config/loaded.ts';
import { parseRelayLine } from '../lib/logging/relay.ts';
import { listen, originOf } from '../lib/process/listen.ts';
import { openLogs } from '../lib/process/open-logs.ts';
import { StartFault } from '../lib/process/start-fault.ts';
import { startFaultText } from '../lib/process/start-fault-text.ts';
import { onStopSignals } from '../lib/process/stop-signals.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The companion listens, or fails, in this time. */
const COMPANION_WAIT_MS = 10_000;
/** serverless-offline would wait 5 s for open connections. Its calls end with it: nobody could take their answers. */
const EMULATOR_STOP_MS = 500;
const LAST_LINES = 30;

async function offline(): Promise<void> {
  loadDotEnv(process.cwd());
  const environment = readEnvironment(process.env);
  const loaded = loadConfig({ path: environment.configPath, env: process.env });
  const { hub, auth } = loaded.config;
  const host = hub.host ?? (auth.enabled ? '0.0.0.0' : '127.0.0.1');
  await makeSureIsFree(host, hub.port);
  const companion = await startCompanion(environment, loaded);
  const emulator = startEmulator({
    args: ['--host', host, '--httpPort', String(hub.port)],
    env: {
      ...process.env,
      HUB_CONFIG: resolve(environment.configPath),
      HUB_HOST: host,
      AILINK_URL: companion.url,
      AILINK_TOKEN: companion.token,
    },
  });

  let stopping = false;
  async function stop(exitCode: number): Promise<void> {
    if (stopping) return;
    stopping = true;
    await Promise.all([end(emulator), companion.stop()]);
    process.exit(exitCode);
  }
  onStopSignals(
    () => void stop(0),
    () => process.exit(1),
    { echoed: environment.startedByNpm },
  );
  emulator.once('exit', () => {
    if (!stopping) console.error('serverless-offline has ended');
    void stop(1);
  });
  emulator.once('message', ({ url }: { url: string }) => console.log(`hub listening on ${url}`));
}

/** The emulator would drown a port in use in its chat. @throws StartFault */
async function makeSureIsFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  await listen(probe, host, port, 'The hub cannot listen');
  await new Promise((done) => probe.close(done));
}

/** A companion of its own, or the one that `AILINK_URL` names. */
async function startCompanion(
  { ailinkUrl, ailinkToken, ailinkPort }: Environment,
  loaded: LoadedConfig,
): Promise<{ url: string; token: string; stop(): Promise<void> }> {
  if (ailinkUrl !== undefined && ailinkToken !== undefined) {
    return { url: ailinkUrl, token: ailinkToken, stop: async () => {} };
  }
  const logs = openLogs({ config: loaded.config.logging, secrets: loaded.secrets });
  const strayLines = logs.logger('error', 'ai-link');
  const token = randomBytes(32).toString('hex');
  let url = '';
  const deps = {
    entry: fileURLToPath(new URL('../companion.mjs', import.meta.url)),
    loaded,
    token,
    sockets: null,
    host: '127.0.0.1',
    port: ailinkPort,
    logger: logs.logger('error', 'supervisor'),
    onLine(stream: 'stdout' | 'stderr', line: string) {
      const record = stream === 'stdout' ? parseRelayLine(line) : undefined;
      if (record !== undefined) logs.ingest(record.type, record.line);
      else strayLines.error(line, { stream });
    },
    onReady(address: { host: string; port: number }) {
      // Started anew it must be found where the handlers know it.
      deps.port = address.port;
      url = originOf('http', address);
      console.log(`ai-link listening on ${url}`);
    },
  };
  const child = createCompanionProcess(deps);
  await child.start(COMPANION_WAIT_MS);
  if (url === '') throw new StartFault('AI-Link does not start');
  return {
    url,
    token,
    async stop() {
      await child.stop(EMULATOR_STOP_MS);
      await logs.close();
    },
  };
}

/** Starts serverless-offline; `offline-plugin` in it says by a message where it listens. */
function startEmulator({ args, env }: { args: string[]; env: NodeJS.ProcessEnv }): ChildProcess {
  const serverless = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');
  const emulator = spawn(process.execPath, [serverless, 'offline', 'start', '--noSponsor', ...args], {
    cwd: root,
    env: {
      ...env,
      OFFLINE_WORKING_DIRECTORY: process.cwd(),
      SLS_TELEMETRY_DISABLED: '1',
      SLS_NOTIFICATIONS_MODE: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // The handlers' records pass. The tool chats about every call; its last words count when it cannot start.
  const lastLines: string[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    const output = emulator[stream];
    if (output === null) continue;
    splitLines(output, (line) => {
      if (line.startsWith('{')) process[stream].write(`${line}\n`);
      else if (lastLines.push(line) > LAST_LINES) lastLines.shift();
    });
  }
  emulator.once('exit', (code) => {
    if (code !== 0 && code !== null) console.error(lastLines.join('\n'));
  });
  return emulator;
}

/** Ends the emulator as one would by hand. There is no drain here (contract §11). */
function end(emulator: ChildProcess): Promise<void> {
  if (emulator.exitCode !== null || emulator.signalCode !== null) return Promise.resolve();
  return new Promise((done) => {
    const killer = setTimeout(() => emulator.kill('SIGKILL'), EMULATOR_STOP_MS);
    emulator.once('exit', () => {
      clearTimeout(killer);
      done();
    });
    emulator.kill('SIGTERM');
  });
}

await offline().catch((error) => {
  console.error(startFaultText(error));
  process.exit(1);
});
