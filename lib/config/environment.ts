import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, type Report } from './faults.ts';
import { FORMATS, parseUrl } from './formats.ts';
import type { Environment } from './loaded.ts';

/** Shortest shared secret between gateway and companion (contract §1). */
const MIN_TOKEN_LENGTH = 32;
const MAX_PORT = 65_535;

/**
 * Reads the variables of contract §1. Never throws: a malformed one counts as left out here and is a fault of
 * `loadConfig`, which reports it together with the faults of the file. An empty variable counts as not set.
 */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  return {
    configPath: set(env.HUB_CONFIG) ?? './config.yaml',
    hubPort: port(env.HUB_PORT),
    hubHost: set(env.HUB_HOST),
    ailinkPort: port(env.AILINK_PORT) ?? 3100,
    ailinkHost: set(env.AILINK_HOST),
    ailinkUrl: set(env.AILINK_URL),
    ailinkToken: set(env.AILINK_TOKEN),
    skipSchemaValidation: /^(true|1)$/i.test(env.HUB_SKIP_SCHEMA_VALIDATION ?? ''),
    startedByNpm: /^(start|gateway|companion|offline)$/.test(env.npm_lifecycle_event ?? ''),
    outboundProxy: {
      https: proxyAddress(env.HTTPS_PROXY) ?? proxyAddress(env.https_proxy),
      http: proxyAddress(env.HTTP_PROXY) ?? proxyAddress(env.http_proxy),
      no: set(env.NO_PROXY) ?? set(env.no_proxy),
    },
  };
}

/** Reports what is malformed among the variables that `readEnvironment` reads. */
export function checkEnvironment(env: NodeJS.ProcessEnv, report: Report): void {
  const fault = (name: string, what: string) => report.fault([name], what, null);
  for (const name of ['HUB_PORT', 'AILINK_PORT']) {
    const text = set(env[name]);
    if (text === undefined) continue;
    if (!/^-?\d+(\.\d+)?$/.test(text)) fault(name, 'must be a number');
    else if (!/^\d+$/.test(text))
      fault(name, text.includes('.') ? 'must be a whole number' : 'must be at least 0');
    else if (Number(text) > MAX_PORT) fault(name, `must be at most ${MAX_PORT}`);
  }
  for (const name of ['HUB_HOST', 'AILINK_HOST']) {
    const text = set(env[name]);
    if (text !== undefined && !FORMATS.host?.test(text)) fault(name, `must be ${FORMATS.host?.expected}`);
  }
  const url = set(env.AILINK_URL);
  if (url !== undefined && parseUrl(url, ['http:', 'https:']) === undefined) {
    fault('AILINK_URL', 'must be an http:// or https:// address');
  }
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy']) {
    if (set(env[name]) !== undefined && proxyAddress(env[name]) === undefined) {
      report.warn([name], 'is not an http:// or https:// address and is not used', null);
    }
  }
  const token = set(env.AILINK_TOKEN);
  if (token !== undefined && token.length < MIN_TOKEN_LENGTH) {
    fault('AILINK_TOKEN', `must be at least ${MIN_TOKEN_LENGTH} characters`);
  } else if (token !== undefined && /[^\x21-\x7e]/.test(token)) {
    fault('AILINK_TOKEN', 'must be printable ASCII without spaces');
  }
  if (url !== undefined && token === undefined) {
    fault('AILINK_TOKEN', 'is required when AILINK_URL is set');
  }
  if (!/^(true|false|1|0|)$/i.test(env.HUB_SKIP_SCHEMA_VALIDATION ?? '')) {
    fault('HUB_SKIP_SCHEMA_VALIDATION', 'must be true or false');
  }
}

/**
 * Loads `<directory>/.env` into `process.env` when it is there; a variable that is already set wins.
 * Throws a ConfigError when the file cannot be read.
 */
export function loadDotEnv(directory: string): void {
  const path = join(resolve(directory), '.env');
  if (!existsSync(path)) return;
  try {
    process.loadEnvFile(path);
  } catch (error) {
    throw new ConfigError([
      `.env cannot be read: ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`,
    ]);
  }
}

function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Other programs read these variables too: `host:port` counts as http, and anything else is left to them. */
function proxyAddress(text: string | undefined): string | undefined {
  const address = /^[\w.-]+:\d+\/?$/.test(text ?? '') ? `http://${text}` : text;
  return address !== undefined && parseUrl(address, ['http:', 'https:']) ? address : undefined;
}

function port(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const number = Number(text);
  return number <= MAX_PORT ? number : undefined;
}
