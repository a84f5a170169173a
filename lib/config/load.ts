import { createHash } from 'node:crypto';
import { checkEnvironment, readEnvironment } from './environment.ts';
import { ConfigError, createReport, type Fault, type Report, renderFaults } from './faults.ts';
import { fillDefaults } from './fill.ts';
import type { Environment, LoadedConfig } from './loaded.ts';
import { formatPath, isMapping, type Path, removeAt, setKey, valueAt } from './path.ts';
import type { RuleContext, View } from './rules/rule.ts';
import { RULES } from './rules.ts';
import type { Config } from './schema/config-schema.ts';
import { collectSecrets } from './secrets.ts';
import { deriveDefaults, relaxedSchema, validateStructure, withoutIncomplete } from './validate.ts';
import { readYamlFile } from './yaml-file.ts';

export { ConfigError } from './faults.ts';

export interface LoadOptions {
  /** Path of the YAML file, as given by `HUB_CONFIG`. */
  path: string;
  /** Where `${VAR}` and the hub's own variables come from. */
  env: NodeJS.ProcessEnv;
  /** Laid over what the file says, mapping by mapping; lists are replaced. For tests and tools. */
  overrides?: Record<string, unknown>;
}

/**
 * Reads, substitutes, fills, validates and splits a configuration (contract §2). `HUB_PORT` and `HUB_HOST` are part
 * of the result, but not of its hash: the gateway alone has them.
 * Throws a ConfigError that names every fault, those of the environment variables included.
 */
export function loadConfig({ path, env, overrides }: LoadOptions): LoadedConfig {
  const report = createReport();
  const environment = readEnvironment(env);
  checkEnvironment(env, report);
  const file = readYamlFile(path, env, report);
  const given = overrides === undefined ? file.value : overlay(file.value, overrides);
  const skip = environment.skipSchemaValidation || isTrue(valueAt(given, SKIP_KEY));
  if (skip) warnOfSkip(environment, report);
  report.seal();

  const config = structured(given, skip, (at) => file.variablesAt(at) !== undefined, report);
  report.seal();

  const context: RuleContext = {
    report,
    given: (at) => valueAt(given, at) !== undefined,
    fromEnvironment: (at) => file.variablesAt(at) !== undefined,
    skipStructure: skip,
  };
  for (const rule of RULES) rule(config as View, context);
  warnOfExposure(config as View, environment, report);

  const secrets = collectSecrets(given, environment, file.variablesAt, env);
  const lines = (list: readonly Fault[]) =>
    renderFaults(list, file.name, file.lineOf).map((line) => cutOut(secrets, line));
  if (report.faults.length > 0) throw new ConfigError(lines(report.faults));

  const complete = (skip ? completed(config) : config) as Config;
  const hash = createHash('sha256').update(canonical(complete)).digest('hex');
  if (environment.hubPort !== undefined) complete.hub.port = environment.hubPort;
  if (environment.hubHost !== undefined) complete.hub.host = environment.hubHost;
  return { config: complete, secrets, hash, warnings: lines(report.warnings) };
}

const SKIP_KEY = ['validation', 'skipSchemaValidation'];

/**
 * Fills and validates. What comes back is well-typed as far as it goes: a value that the schema refuses is reported
 * and taken out, so that the rules can look at the rest.
 */
function structured(
  given: unknown,
  skip: boolean,
  substituted: (path: Path) => boolean,
  report: Report,
): unknown {
  const config = fillDefaults(relaxedSchema, given, skip ? () => true : substituted);
  const lenient = valueAt(config, ['validation', 'unknownKeys']) === 'warn';
  const violations = validateStructure(config);
  for (const { path, what, kind } of violations) {
    const tolerated = kind === 'unknown-key' ? skip || lenient : skip && !isSecurityKey(path);
    if (!tolerated) report.fault(path, what);
    else report.warn(path, kind === 'value' ? `${what}; left out` : what);
  }
  for (const { path } of violations) removeAt(config, path);
  deriveDefaults(config);
  return config;
}

/** Under skipSchemaValidation: puts defaults in the holes, and leaves out what no default can complete. */
function completed(config: unknown): unknown {
  const filled = fillDefaults(relaxedSchema, config, () => false);
  deriveDefaults(filled);
  return withoutIncomplete(filled);
}

/** Keys whose default would open a door that their misspelt value meant to close: never tolerated. */
function isSecurityKey(path: Path): boolean {
  return /^(auth|hub\.(tls|security|cors)|mcp\.(security|servers\[\d+\]\.(transport|command|args|env))|proxies\[\d+\]\.auth)\b/.test(
    formatPath(path),
  );
}

function warnOfSkip(environment: Environment, report: Report): void {
  const what = 'is true: STRUCTURE AND TYPES WERE NOT VALIDATED; never use this in production';
  if (environment.skipSchemaValidation) report.warn(['HUB_SKIP_SCHEMA_VALIDATION'], what, null);
  else report.warn(SKIP_KEY, what);
}

function warnOfExposure(view: View, environment: Environment, report: Report): void {
  const host = environment.hubHost ?? view.hub?.host;
  if (host === undefined || view.auth?.enabled !== false || /^(localhost|127\..*|::1)$/.test(host)) return;
  const what = 'exposes a hub without authentication (auth.enabled is false) to the network';
  if (environment.hubHost === undefined) report.warn(['hub', 'host'], what);
  else report.warn(['HUB_HOST'], what, null);
}

/** Lays `over` on `base`, mapping by mapping; everything else is replaced. */
function overlay(base: Record<string, unknown>, over: Record<string, unknown>): Record<string, unknown> {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = Object.hasOwn(base, key) ? base[key] : undefined;
    setKey(result, key, isMapping(value) && isMapping(below) ? overlay(below, value) : value);
  }
  return result;
}

function isTrue(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^true$/i.test(value.trim()));
}

/** JSON with sorted keys, so that two readers of one file agree. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part) =>
    isMapping(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

/** The last guard: a message is worded without values, but a key may be somebody's misplaced secret. */
function cutOut(secrets: readonly string[], line: string): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, '[REDACTED]'), line);
}
