import { type DemoServices, startDemoServices } from './demo-services.ts';
import { send } from './http.ts';
import { ADMIN_KEY, type HubProcess, startHubProcess } from './hub-process.ts';
import { everythingStdio } from './mcp-everything.ts';
import { fixture } from './mcp-fixture.ts';
import { until } from './until.ts';

/** A hub with every kind of thing configured, for the panel to show. */
export interface PanelHub {
  hub: HubProcess;
  /** Makes AI, tool and proxy calls; resolves when all are counted. */
  makeTraffic(rounds?: number): Promise<void>;
  /** An answer of the admin API. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they test
  admin(path: string): Promise<any>;
  stop(): Promise<void>;
}

export interface PanelHubOptions {
  /** Merged into the configuration. */
  config?: object;
  /** Further tool servers beside `everything` and one that cannot start. */
  servers?: readonly object[];
  env?: Record<string, string>;
}

export async function startPanelHub({
  config = {},
  servers = [],
  env = {},
}: PanelHubOptions = {}): Promise<PanelHub> {
  const services: DemoServices = await startDemoServices();
  const provider = (id: string, model: string) => ({
    id,
    provider: 'openai-compatible',
    baseUrl: services.providerUrl,
    apiKey: 'panel-provider-secret-0123456789',
    options: { model },
    retry: { attempts: 0 },
    price: { prompt: 2.5, completion: 10 },
  });
  const hub = await startHubProcess({
    env,
    config: {
      auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
      targets: [
        { id: 'echo', provider: 'echo', options: { model: 'echo-1' } },
        { ...provider('writer', 'demo-large'), fallback: ['echo'] },
        provider('agent', 'demo-tools'),
      ],
      proxies: [
        {
          id: 'wiki',
          url: `${services.serviceUrl}/wiki`,
          removeHeaders: ['cookie', 'x-internal'],
          removeResponseHeaders: ['server'],
        },
        { id: 'status', url: services.serviceUrl, auth: false },
      ],
      mcp: {
        servers: [
          { ...everythingStdio(), autoConnect: true },
          fixture(['die-at-start'], { name: 'mailer', autoConnect: true }),
          ...servers,
        ],
      },
      ...config,
    },
  });

  const admin = async (path: string) =>
    (await send(hub.url + path, { headers: { 'x-admin-key': ADMIN_KEY } })).json();
  const chat = (target: string, body: object) =>
    send(`${hub.url}/v1/chat/completions`, {
      headers: { 'x-target': target },
      json: { messages: [{ role: 'user', content: 'How are you, hub?' }], ...body },
    });
  const invoke = (tool: string, args: object) =>
    send(`${hub.url}/mcp/invoke`, { headers: { 'x-target': 'everything' }, json: { tool, arguments: args } });

  async function makeTraffic(rounds = 1): Promise<void> {
    await until(
      'the tool server',
      async () => {
        const { mcpConnections } = await admin('/admin/runtime');
        return mcpConnections[0].status === 'connected';
      },
      { timeoutMs: 30_000 },
    );
    const before = await admin('/admin/runtime');
    for (let round = 0; round < rounds; round += 1) {
      await chat('echo', {});
      await chat('writer', { stream: true });
      await chat('writer', {});
      await chat('agent', { stream: true });
      await chat('agent', { model: 'forbidden' });
      await invoke('echo', { message: 'hello' });
      await invoke('get-sum', { a: 1, b: 'not a number' });
      await send(`${hub.url}/proxy/wiki/page`);
      await send(`${hub.url}/proxy/wiki/missing`);
    }
    const calls = before.runtimeUsage.requests.total + 5 * rounds;
    const tools = before.mcpConnections[0].invocations + 2 * rounds;
    await until(
      'all calls counted',
      async () => {
        const { runtimeUsage, mcpConnections } = await admin('/admin/runtime');
        const proxied = runtimeUsage.proxies.find(({ id }: { id: string }) => id === 'wiki')?.requests ?? 0;
        return (
          runtimeUsage.requests.total >= calls &&
          mcpConnections[0].invocations >= tools &&
          proxied >= 2 * rounds
        );
      },
      { timeoutMs: 20_000 },
    );
  }

  return {
    hub,
    makeTraffic,
    admin,
    async stop() {
      await hub.stop('SIGKILL');
      services.close();
    },
  };
}
