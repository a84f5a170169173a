import { afterEach, describe, expect, test } from '@jest/globals';
import type { CompanionStatus } from '../../../lib/companion-client/protocol.ts';
import { createHealthRoutes, type HealthDeps } from '../../../lib/health/routes.ts';
import { send } from '../../helpers/http.ts';
import { bearerOnly, closeServers, serve } from '../http/serve.ts';

afterEach(closeServers);

const defaults = { enabled: true, path: '/health', readinessPath: '/ready' };

/** A hub whose companion is as the test says. */
async function hub(options: {
  status?: CompanionStatus['status'] | (() => CompanionStatus['status']);
  probe?: HealthDeps['companion']['probe'];
  draining?: () => boolean;
  healthCheck?: Partial<HealthDeps['healthCheck']>;
}) {
  const { status = 'up', probe = () => Promise.resolve(true), draining = () => false } = options;
  const companion: HealthDeps['companion'] = {
    status: () => ({
      status: typeof status === 'function' ? status() : status,
      pid: null,
      restarts: 0,
      since: '2026-01-01T00:00:00.000Z',
      nextRetryAt: null,
    }),
    probe,
  };
  const healthCheck = { ...defaults, ...options.healthCheck };
  return serve([createHealthRoutes({ healthCheck, companion, draining, probeTimeout: 50 })], {
    limits: { concurrency: 0, queue: 0 },
    deps: { authenticator: bearerOnly },
  });
}

const never = () => Promise.reject(new Error('the companion must not be asked'));

describe('liveness', () => {
  test('is ok while the process answers, and asks nobody [S1-health-endpoints, S2.11-liveness, S4.1-health, S8-health-check]', async () => {
    const { url } = await hub({ status: 'down', probe: never, draining: () => true });
    const { status, headers, json } = await send(`${url}/health`);
    expect([status, json(), headers['cache-control']]).toEqual([200, { status: 'ok' }, 'no-store']);
  });
});

describe('readiness', () => {
  test('is given when the companion itself answers [S2.11-readiness, S4.1-ready]', async () => {
    const asked: number[] = [];
    const { url } = await hub({
      probe(timeoutMs) {
        asked.push(timeoutMs);
        return Promise.resolve(true);
      },
    });
    const { status, headers, json } = await send(`${url}/ready`);
    expect([status, json(), headers['cache-control']]).toEqual([200, { status: 'ready' }, 'no-store']);
    expect(asked).toEqual([50]);
  });

  test.each(['down', 'starting'] as const)(
    'is refused at once while the companion is %s, without asking it [S7-ready-503]',
    async (state) => {
      const { url } = await hub({ status: state, probe: never });
      const { status, json } = await send(`${url}/ready`);
      expect([status, json()]).toEqual([503, { status: 'unavailable', error: `AI-Link is ${state}` }]);
    },
  );

  test('is refused when the companion does not answer [S4.1-ready, S7-ready-503]', async () => {
    const { url } = await hub({ probe: () => Promise.resolve(false) });
    const { status, headers, json } = await send(`${url}/ready`);
    expect([status, json().status, headers['cache-control']]).toEqual([503, 'unavailable', 'no-store']);
  });

  test('is refused when the companion exits while it is asked', async () => {
    let state: CompanionStatus['status'] = 'up';
    const { url } = await hub({
      status: () => state,
      probe() {
        state = 'down';
        return Promise.resolve(true);
      },
    });
    expect((await send(`${url}/ready`)).status).toBe(503);
  });

  test('is refused while the hub drains, without asking the companion', async () => {
    const { url } = await hub({ draining: () => true, probe: never });
    const { status, json } = await send(`${url}/ready`);
    expect([status, json()]).toEqual([503, { status: 'unavailable', error: 'The hub is shutting down' }]);
  });
});

describe('configuration', () => {
  test('the paths move [S2.1-health-path, S2.1-readiness-path]', async () => {
    const { url } = await hub({ healthCheck: { path: '/live/z', readinessPath: '/live/ready' } });
    expect((await send(`${url}/live/z`)).json()).toEqual({ status: 'ok' });
    expect((await send(`${url}/live/ready`)).json()).toEqual({ status: 'ready' });
    expect((await send(`${url}/health`)).status).toBe(404);
  });

  test('switched off there is no such path [S2.1-health-enabled]', async () => {
    const { url } = await hub({ healthCheck: { enabled: false } });
    for (const path of ['/health', '/ready'])
      expect((await send(url + path)).json().error.code).toBe('not_found');
  });
});
