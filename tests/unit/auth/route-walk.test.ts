import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { composeGroups } from '../../../gateway/compose-groups.ts';
import { upgradeListener } from '../../../lib/app/create-app.ts';
import { createHubApp, type HubApp } from '../../../lib/app/hub-app.ts';
import type { CompanionClient } from '../../../lib/companion-client/companion-client.ts';
import { readEnvironment } from '../../../lib/config/environment.ts';
import { HubError } from '../../../lib/errors/hub-error.ts';
import { nodeClasses } from '../../../lib/http/node-classes.ts';
import type { Route, RouteGroup } from '../../../lib/http/route.ts';
import { send, sendRaw } from '../../helpers/http.ts';
import { ADMIN_KEY } from '../../helpers/hub-process.ts';
import { loadText } from '../config/load-text.ts';
import { recordingLogs } from '../http/serve.ts';

/** Everything that answers without credentials. A route that is not listed here must refuse. */
const PUBLIC = [
  'GET /health',
  'GET /ready',
  'GET /admin/panel',
  'POST /auth/logout',
  'GET /videohost/auth/idp/callback',
];
/** The admin API and what belongs to it ask for an admin key, everything else for main authentication. */
const ADMIN = /^\/(admin|metrics)/;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

let hub: HubApp;
let server: Server;
let url: string;
let groups: RouteGroup[] = [];
const companionCalls: unknown[] = [];

beforeAll(async () => {
  const loaded = loadText(
    JSON.stringify({
      auth: {
        enabled: true,
        edapi_url: 'http://127.0.0.1:9/identity',
        session: { cookie: { secret: 'session-secret-0123456789-abcdefghijkl' } },
        admin: { enabled: true, apiKeys: [ADMIN_KEY] },
      },
      swagger: { enabled: true },
      targets: [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }],
      proxies: [{ id: 'wiki', url: 'http://127.0.0.1:9' }],
    }),
  );
  const refuse = (call: unknown) => {
    companionCalls.push(call);
    return Promise.reject(new HubError('ailink_unavailable', 'AI-Link is not available at the moment'));
  };
  const companion = {
    call: refuse,
    relay: refuse,
    probe: async () => false,
    status: () => ({
      status: 'down',
      pid: null,
      restarts: 0,
      since: new Date(0).toISOString(),
      nextRetryAt: null,
    }),
    close: async () => {},
  } as unknown as CompanionClient;
  const { outboundProxy } = readEnvironment({});
  hub = createHubApp(
    { loaded, logs: recordingLogs(), companion, bindHost: '127.0.0.1', outboundProxy },
    (parts) => {
      groups = composeGroups(parts, () => false);
      return groups;
    },
  );
  server = createServer(nodeClasses(hub.app), hub.app).on('upgrade', upgradeListener(hub.app));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await hub.close();
});

/** A path that the route takes. */
const pathOf = ({ path }: Route) => path.replace(/:\w+/g, 'some-id').replace(/\*\w+/g, 'wiki/rest');
const methodsOf = ({ method }: Route) => (method === 'ALL' ? METHODS : [method]);
const walk = () =>
  groups.flatMap((group) =>
    group.routes.flatMap((route) =>
      methodsOf(route).map((method) => ({
        group: group.name,
        method,
        path: pathOf(route),
        name: `${method} ${pathOf(route)}`,
      })),
    ),
  );

describe('without credentials', () => {
  test('every route of every group refuses, but the listed ones [S5.2-protected S5.2-public C4-protected S2.2-enabled S7-main-401]', async () => {
    expect(new Set(walk().map(({ group }) => group)).size).toBeGreaterThanOrEqual(7);
    const open: string[] = [];
    for (const { method, path, name } of walk()) {
      const headers = { 'x-target': 'wiki', 'content-type': 'application/json' };
      const { status, text } = await send(url + path, { method, headers });
      const code = status === 401 ? JSON.parse(text).error.code : undefined;
      const expected = ADMIN.test(path) ? 'admin_unauthorized' : 'unauthorized';
      if (code !== expected) open.push(name);
    }
    const swagger = open.filter((name) => name.startsWith('GET /docs'));
    const panelAssets = open.filter((name) => name.startsWith('GET /admin/panel/'));
    expect(open.filter((name) => !swagger.includes(name) && !panelAssets.includes(name)).sort()).toEqual(
      [...PUBLIC].sort(),
    );
    // Of what is open, only readiness and signing out look into the companion, and none of them did so for more.
    expect(companionCalls).toEqual([]);
  });

  test('neither do wrong credentials of any kind open a route [S5.2-protected C4-protected]', async () => {
    const wrong: Record<string, string>[] = [
      { authorization: 'Basic YWRtaW46YWRtaW4=' },
      { cookie: 'hub.sid=x.y' },
      { 'x-admin-key': 'wrong-key-wrong-key-wrong-key-wrong-key' },
    ];
    for (const headers of wrong) {
      for (const { method, path, name } of walk()) {
        if (PUBLIC.includes(name) || /^GET \/(docs|admin\/panel)/.test(name)) continue;
        const { status } = await send(url + path, { method, headers });
        // Wrong admin keys are counted, and soon refused for that.
        expect([name, headers, status === 401 || (status === 429 && ADMIN.test(path))]).toEqual([
          name,
          headers,
          true,
        ]);
      }
    }
  });

  test('an unknown path, method or upgrade under a protected prefix is 401, by any spelling [S5.2-protected C4-protected]', async () => {
    const prefixes = groups.flatMap((group) => group.prefixes).filter(({ access }) => access !== 'public');
    expect(prefixes.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/v1', '/mcp', '/proxy', '/videohost', '/admin']),
    );
    for (const { path } of prefixes) {
      const spellings = [
        `${path}/no/such`,
        `${path}/%6eo`,
        `/${path}/x`,
        `${path.toUpperCase()}/x`,
        `/./${path}/x`,
        `/x/..${path}/x`,
        `/%2e${path}`,
      ];
      for (const spelling of spellings) {
        const answer = await sendRaw(
          url,
          `DELETE ${spelling} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        );
        expect([spelling, answer.slice(9, 12)]).toEqual([spelling, '401']);
      }
      const upgrade = `GET ${path}/x HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
      expect([path, (await sendRaw(url, upgrade)).slice(9, 12)]).toEqual([path, '401']);
    }
  });
});
