import type { TargetConfig } from '../config/schema/targets.ts';
import type { Provider, ProviderCall } from './providers/provider.ts';
import { PROVIDERS } from './providers/registry.ts';
import { createSlots, type Slots } from './slots.ts';
import { createHttpUpstream, type HttpUpstreamOptions } from './upstream/http-upstream.ts';
import type { Upstream, UpstreamCall } from './upstream/upstream.ts';

/** A target as it is compiled at start: all that its calls share. */
export interface Target {
  readonly id: string;
  readonly config: TargetConfig;
  readonly provider: Provider;
  readonly upstream: Upstream;
  readonly slots: Slots;
  /** Models that callers may ask for; undefined allows any. */
  readonly models: ReadonlySet<string> | undefined;
  /** Targets tried after this one, in order. */
  readonly fallback: readonly Target[];
  prepare(call: ProviderCall): UpstreamCall;
  /** Cuts configured secrets and the target's own host out of a text of the provider. */
  mask(text: string): string;
  /** Cuts configured secrets out of a text, for the operator's eyes. */
  maskSecrets(text: string): string;
}

export interface TargetOptions extends HttpUpstreamOptions {
  /** Cuts configured secrets out of a text. */
  mask: (text: string) => string;
}

/** Compiles the configured targets. Throws when one of them cannot be called at all. */
export function compileTargets(
  configs: readonly TargetConfig[],
  options: TargetOptions,
): ReadonlyMap<string, Target> {
  const targets = new Map<string, Target>();
  const fallbacks = new Map<string, Target[]>();
  for (const config of configs) {
    const fallback: Target[] = [];
    fallbacks.set(config.id, fallback);
    targets.set(config.id, compileTarget(config, fallback, options));
  }
  for (const config of configs) {
    for (const id of config.fallback) {
      const target = targets.get(id);
      if (target === undefined)
        throw new Error(`Target ${config.id} falls back to ${id}, which does not exist`);
      fallbacks.get(config.id)?.push(target);
    }
  }
  return targets;
}

function compileTarget(config: TargetConfig, fallback: readonly Target[], options: TargetOptions): Target {
  const provider = PROVIDERS[config.provider];
  const { request } = provider;
  const baseUrl = config.baseUrl ?? request.defaultBaseUrl;
  let upstream = request.createUpstream?.();
  let { mask } = options;
  if (upstream === undefined) {
    if (baseUrl === undefined)
      throw new Error(`Target ${config.id}: provider ${config.provider} needs a baseUrl`);
    const url = new URL(baseUrl);
    upstream = createHttpUpstream(url, {
      ...options,
      connectTimeout: Math.min(options.connectTimeout, config.requestTimeout),
    });
    const hideHost = createHostMask(url);
    mask = (text) => hideHost(options.mask(text));
  }
  return {
    id: config.id,
    config,
    provider,
    upstream,
    slots: createSlots(config.maxConcurrency, config.maxQueue),
    models: config.models.length === 0 ? undefined : new Set(config.models),
    fallback,
    prepare: request.compile(config),
    mask,
    maskSecrets: options.mask,
  };
}

/** A bare word such as `ollama` is left alone: it may as well be the name of a model. */
function createHostMask(url: URL): (text: string) => string {
  const names = [url.host];
  if (url.hostname.includes('.')) names.push(url.hostname);
  const hidden = names.filter((name) => /[.:]/.test(name));
  return (text) => hidden.reduce((masked, name) => masked.replaceAll(name, '[REDACTED]'), text);
}
