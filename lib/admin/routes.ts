import type { Request, Response } from 'express';
import type { CompanionCall, CompanionClient } from '../companion-client/companion-client.ts';
import { INTERNAL_PATHS } from '../companion-client/protocol.ts';
import type { LoadedConfig } from '../config/loaded.ts';
import { HubError } from '../errors/hub-error.ts';
import { createPage } from '../http/page.ts';
import type { Route, RouteGroup } from '../http/route.ts';
import type { Logs } from '../logging/logger.ts';
import { createAdminAnswers } from './answer.ts';
import { summarizeConfiguration } from './configuration-summary.ts';
import { page } from './panel-page.ts';
import { redactConfig } from './redact.ts';
import { runtimeSnapshot } from './runtime-snapshot.ts';

export interface AdminRoutesDeps {
  loaded: Pick<LoadedConfig, 'config' | 'secrets'>;
  companion: Pick<CompanionClient, 'call' | 'status'>;
  logs: Logs;
  /** Hands what the proxies have counted to the companion, so that what is shown and reset includes it. */
  handOverCounts?: () => Promise<void>;
  /** Milliseconds that the companion may take for its part; default 5000. */
  companionTimeout?: number;
}

/** The sections of the configuration that have an address of their own, and what an absent one is. */
const SECTIONS = { targets: [], proxies: [], mcp: {}, auth: {}, hub: {} };

/**
 * The admin API (spec §4.5, contract §8). The key has been checked before a handler runs (`createAdminGuard`);
 * the panel's page is public.
 */
export function createAdminRoutes(deps: AdminRoutesDeps): RouteGroup {
  const { loaded, companion, logs, handOverCounts, companionTimeout = 5000 } = deps;
  const { config } = loaded;
  const answers = createAdminAnswers(loaded.secrets);
  const summary = summarizeConfiguration(config);
  const shownConfig = redactConfig(config) as Record<string, unknown>;
  const logger = logs.logger('access', 'admin');

  /** A call to the companion within bounds; one that takes too long is a companion that does not answer. */
  async function ask<T>(request: Request, call: Pick<CompanionCall, 'method' | 'path'>): Promise<T> {
    await settleCounts();
    return companion.call<T>({ ...call, ...boundsOf(request) });
  }

  const boundsOf = (request: Request): { requestId: string; signal: AbortSignal } => ({
    requestId: request.hub.id,
    signal: AbortSignal.any([request.hub.signal, AbortSignal.timeout(companionTimeout)]),
  });

  async function settleCounts(): Promise<void> {
    // Counts that cannot be handed over now stay with the proxies until they can.
    await handOverCounts?.().catch(() => {});
  }

  async function runtime(request: Request, response: Response): Promise<void> {
    await settleCounts();
    answers.json(response, await runtimeSnapshot(companion, summary, boundsOf(request)));
  }

  async function usage(request: Request, response: Response): Promise<void> {
    answers.json(response, await ask(request, { method: 'GET', path: INTERNAL_PATHS.usage }));
  }

  async function reset(request: Request, response: Response): Promise<void> {
    await ask(request, { method: 'POST', path: INTERNAL_PATHS.reset });
    logger.warn('Runtime statistics were reset', {
      requestId: request.hub.id,
      adminKeyId: request.hub.caller.id,
      clientIp: request.hub.clientIp,
    });
    answers.json(response, { success: true, message: 'Runtime statistics were reset' });
  }

  async function metrics(request: Request, response: Response): Promise<void> {
    const text = await ask<unknown>(request, { method: 'GET', path: INTERNAL_PATHS.metrics });
    if (typeof text !== 'string') throw new HubError('ailink_unavailable', 'AI-Link gave no metrics');
    answers.text(response, 'text/plain; version=0.0.4; charset=utf-8', text);
  }

  const show = (path: string, value: unknown): Route => ({
    method: 'GET',
    path,
    handler: (_request, response) => answers.json(response, value),
  });

  return {
    name: 'admin',
    prefixes: [
      { path: '/admin', access: 'admin' },
      { path: '/metrics', access: 'admin' },
    ],
    routes: [
      {
        method: 'GET',
        path: '/admin/panel',
        access: 'public',
        handler: createPage(page),
      },
      { method: 'GET', path: '/admin/runtime', handler: runtime },
      { method: 'GET', path: '/admin/runtime/usage', handler: usage },
      { method: 'POST', path: '/admin/runtime/reset', handler: reset },
      { method: 'GET', path: '/metrics', handler: metrics },
      show('/admin/config', shownConfig),
      ...Object.entries(SECTIONS).map(([name, absent]) =>
        show(`/admin/config/${name}`, shownConfig[name] ?? absent),
      ),
    ],
  };
}
