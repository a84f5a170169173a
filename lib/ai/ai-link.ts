import type { CompanionCapability, InternalRoute } from '../companion-client/internal-route.ts';
import type { Config } from '../config/schema/config-schema.ts';
import { parseSize } from '../config/size.ts';
import type { OutboundProxy } from '../http-client/outbound-proxy.ts';
import type { Logs } from '../logging/logger.ts';
import type { UsageCounters } from '../usage/usage.ts';
import { createAnswerCall } from './answer-call.ts';
import { createModelRoutes } from './models.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { compileTargets } from './targets.ts';
import { LONGEST_CONNECT_MS } from './upstream/http-upstream.ts';

export interface AiLinkDeps {
  config: Pick<Config, 'targets' | 'hub'>;
  usage: UsageCounters;
  logs: Logs;
  /** Cuts configured secrets out of a text (`createMask` of lib/logging). */
  mask: (text: string) => string;
  /** `Environment.outboundProxy`. */
  outboundProxy: OutboundProxy;
  /** In [0, 1), for the jitter of retries. Default: Math.random. */
  random?: () => number;
  /** Longest time for a connection to a provider, in ms. Default: 10 s (contract §2). */
  connectTimeout?: number;
}

/** AI-Link: the companion's side of `/v1` (contract §5). Throws when a target cannot be called at all. */
export function createAiLink(deps: AiLinkDeps): CompanionCapability {
  const { config, usage, logs, mask } = deps;
  const targets = compileTargets(config.targets, {
    maxRedirects: config.hub.http_client.maxRedirects,
    outboundProxy: deps.outboundProxy,
    mask,
    connectTimeout: deps.connectTimeout ?? LONGEST_CONNECT_MS,
  });
  const answerCall = createAnswerCall({
    targets,
    bodyLimit: parseSize(config.hub.limits.jsonBody),
    usage,
    logger: logs.logger('aiLink', 'ai-link'),
    errorLogger: logs.logger('error', 'ai-link'),
    random: deps.random ?? Math.random,
  });
  const calls = (Object.keys(OPERATIONS) as Operation[]).map(
    (operation): InternalRoute => ({
      method: 'POST',
      path: OPERATIONS[operation].path,
      handle: (request, response, context) => answerCall(operation, request, response, context),
    }),
  );
  return {
    routes: [...calls, ...createModelRoutes(targets, new Date())],
    async close() {
      await Promise.all([...targets.values()].map((target) => target.upstream.close()));
    },
  };
}
