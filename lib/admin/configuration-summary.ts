import type { Config } from '../config/schema/config-schema.ts';
import { redactConfig } from './redact.ts';

/** One kind of configured thing: how many, and their ids with facts that are no secrets (spec §2.10). */
export interface SummarySection {
  count: number;
  items: unknown[];
}

export interface ConfigurationSummary {
  targets: SummarySection;
  proxies: SummarySection;
  tools: SummarySection;
  mcp: SummarySection;
}

/** `configurationSummary` of `/admin/runtime`; every item has an `id`. Made once: the configuration does not change. */
export function summarizeConfiguration(config: Config): ConfigurationSummary {
  const section = (items: readonly object[]): SummarySection => ({
    count: items.length,
    items: redactConfig(items) as unknown[],
  });
  return {
    targets: section(
      config.targets.map(({ id, provider, options, baseUrl, models, fallback }) => ({
        id,
        provider,
        model: options.model ?? null,
        baseUrl: baseUrl ?? null,
        models,
        fallback,
      })),
    ),
    proxies: section(
      config.proxies.map(({ id, url, removeHeaders, removeResponseHeaders, timeout, auth }) => ({
        id,
        url,
        removeHeaders,
        removeResponseHeaders,
        timeout,
        auth,
      })),
    ),
    tools: section(
      config.tools.map(({ name, description, request, timeout }) => ({
        id: name,
        name,
        description,
        method: request.method,
        url: request.url,
        timeout,
      })),
    ),
    mcp: section(
      config.mcp.servers.map(({ name, transport, autoConnect, command, url, toolTimeout }) => ({
        id: name,
        name,
        transport,
        autoConnect,
        endpoint: (transport === 'stdio' ? command : url) ?? null,
        toolTimeout,
      })),
    ),
  };
}
