import type { Config } from './schema/config-schema.ts';

/** What `loadConfig` returns: everything a process needs to start. */
export interface LoadedConfig {
  /** The effective configuration. Holds secrets in memory: show it only through `lib/admin/redact`. */
  config: Config;
  /** Texts that must never appear in a log, an error or an admin answer (contract §8). */
  secrets: readonly string[];
  /** SHA-256 (hex) of the effective configuration; gateway and companion compare it. */
  hash: string;
  /** One line each, to be logged at start. */
  warnings: readonly string[];
}

/** What comes from the environment, read once at start (contract §1). */
export interface Environment {
  configPath: string;
  hubPort: number | undefined;
  hubHost: string | undefined;
  ailinkPort: number;
  ailinkHost: string | undefined;
  ailinkUrl: string | undefined;
  ailinkToken: string | undefined;
  skipSchemaValidation: boolean;
  /** One of npm's scripts that run a hub started this process. */
  startedByNpm: boolean;
  /** HTTPS_PROXY, HTTP_PROXY, NO_PROXY (either case) for outbound calls. */
  outboundProxy: { https: string | undefined; http: string | undefined; no: string | undefined };
}
