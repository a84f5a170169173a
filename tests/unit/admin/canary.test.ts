import { afterEach, expect, test } from '@jest/globals';
import { send } from '../../helpers/http.ts';
import { ADMIN_KEY, connection, serveAdmin } from './serve-admin.ts';

/**
 * Secrets in every corner of a configuration where one can stand. Each has characters that JSON and URLs spell
 * in their own ways, and two halves, so that a part of one is found as well.
 */
function plant() {
  const planted: string[] = [];
  const secret = (form: 'odd' | 'plain' = 'odd'): string => {
    const number = String(planted.length).padStart(2, '0');
    const text =
      form === 'plain'
        ? `canary-${number}-0123456789-abcdefghij-yranac`
        : `canary-${number} "q\\u/+&=?%é-yranac`;
    planted.push(text);
    return text;
  };
  const env: Record<string, string> = {};
  const viaEnv = (name: string): string => {
    env[name] = secret();
    return `\${${name}}`;
  };
  const inUrl = (): string => encodeURIComponent(secret());

  const config = {
    auth: {
      enabled: true,
      edapi_url: `https://identity.example/me?access_token=${inUrl()}`,
      apiKeys: [{ id: 'ci', sha256: 'a'.repeat(64) }],
      session: {
        redis_url: `redis://default:${inUrl()}@redis.example/0`,
        cookie: { secret: secret('plain') },
      },
      admin: { enabled: true, apiKeys: [ADMIN_KEY, secret('plain')] },
    },
    targets: [
      {
        id: 'a',
        provider: 'openai-compatible',
        apiKey: viaEnv('A_KEY'),
        baseUrl: `https://${inUrl()}:${inUrl()}@ai.example/v1`,
        headers: { 'x-api-key': secret('plain'), Authorization: `Bearer ${secret('plain')}` },
      },
      {
        id: 'b',
        provider: 'anthropic',
        apiKey: secret(),
        headers: { 'proxy-authorization': `Basic ${secret('plain')}` },
      },
      {
        id: 'c',
        provider: 'azure',
        apiKey: `prefix-${viaEnv('C_KEY')}`,
        azureDeploymentId: 'd',
        baseUrl: 'https://x.example',
      },
    ],
    proxies: [
      {
        id: 'p',
        url: `https://user:${inUrl()}@service.example/base`,
        headers: { 'x-secret': secret('plain'), 'X-Auth-Token': secret('plain') },
      },
    ],
    tools: [
      {
        name: 'weather',
        description: 'd',
        request: {
          method: 'POST',
          url: `https://u:${inUrl()}@weather.example/?apikey=${inUrl()}`,
          headers: { 'X-Api-Key': secret('plain') },
          query: { api_key: secret(), token: secret() },
          body: {
            deep: [
              {
                client_secret: secret(),
                list_of_keys: [secret(), secret()],
                nested: { api_token: secret(), password: secret() },
              },
            ],
          },
        },
      },
    ],
    mcp: {
      servers: [
        {
          name: 'stdio',
          command: 'node',
          args: [
            'server.js',
            '--token',
            secret(),
            `--api-key=${secret()}`,
            '-H',
            `Authorization: Bearer ${secret('plain')}`,
            `MY_PASSWORD=${secret()}`,
          ],
          env: {
            CLIENT_SECRET: secret(),
            AUTHORIZATION: secret(),
            API_KEY: secret(),
            DB_PASSWORD: viaEnv('DB_PASSWORD'),
            GITHUB_TOKEN: secret(),
          },
        },
        {
          name: 'http',
          transport: 'http',
          url: `https://mcp.example/?key=${inUrl()}`,
          headers: { authorization: `Bearer ${secret('plain')}` },
        },
        { name: 'ws', transport: 'websocket', url: `wss://mcp.example/?token=${inUrl()}&apiKey=${inUrl()}` },
      ],
    },
    videohost: {
      accounts: [
        {
          id: 'main',
          client_id: 'client',
          client_secret: secret(),
          redirect_uri: 'https://hub.example/videohost/auth/idp/callback?target=main',
        },
        {
          id: 'second',
          client_id: 'client',
          client_secret: viaEnv('SECOND_SECRET'),
          redirect_uri: 'https://hub.example/videohost/auth/idp/callback?target=second',
        },
      ],
      endpoints: {
        revoke: `https://u:${inUrl()}@idp.example/revoke`,
        token: `https://idp.example/t?key=${inUrl()}`,
      },
    },
    hub: { security: { trustProxy: false }, publicUrl: 'https://hub.example' },
  };
  return { config, env, planted };
}

const { config, env, planted } = plant();

/** Every way in which a secret may come back. */
const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  JSON.stringify(JSON.stringify(secret)),
  encodeURIComponent(secret),
  encodeURI(secret),
  new URLSearchParams({ q: secret }).toString(),
];

let hub: Awaited<ReturnType<typeof serveAdmin>>;
afterEach(() => hub.close());

test('of forty secrets in every corner of a configuration none appears in any admin answer or log line [S5.5-redaction, C8-secret-cut, C8-redact-urls, C8-redact-maps, C8-redact-where]', async () => {
  expect(planted.length).toBeGreaterThanOrEqual(40);
  hub = await serveAdmin({
    config,
    env,
    connections: planted.map((secret, at) =>
      connection({
        name: `server ${at}`,
        endpoint: `https://h/?q=${encodeURIComponent(secret)}`,
        lastError: { code: 'transport', message: `refused: ${secret}`, at: 'now' },
        stderrTail: spellings(secret).map((text) => `[server] ${text}`),
        [`field ${secret}`]: secret,
        tools: [{ name: secret, invocations: 1, errors: 0 }],
      }),
    ),
  });
  const logger = hub.logs.logger('error', 'test');
  for (const secret of planted) {
    hub.counters
      .begin({ action: 'chat.completions', caller: secret, streaming: false })
      .end({ outcome: 'success', provider: 'p', target: 't', model: secret, finishReasons: [secret] });
    const error = new Error(`failed with ${secret}`, { cause: new Error(JSON.stringify({ secret })) });
    logger.error(`message ${secret}`, { secret, list: spellings(secret), error, [secret]: 1 });
  }

  const headers = { 'x-admin-key': ADMIN_KEY };
  const answers: string[] = [];
  for (const path of [
    'runtime',
    'runtime/usage',
    'config',
    'config/targets',
    'config/proxies',
    'config/mcp',
    'config/auth',
    'config/hub',
  ]) {
    const answer = await send(`${hub.url}/admin/${path}`, { headers });
    expect([path, answer.status]).toEqual([path, 200]);
    expect(answer.json()).toBeDefined();
    answers.push(answer.text);
  }
  const metrics = await send(`${hub.url}/metrics`, { headers });
  expect(metrics.status).toBe(200);
  const reset = await send(`${hub.url}/admin/runtime/reset`, { method: 'POST', headers });
  expect(reset.status).toBe(200);
  for (const secret of planted.slice(0, 5)) {
    answers.push(
      (await send(`${hub.url}/admin/runtime`, { headers: { 'x-admin-key': encodeURIComponent(secret) } }))
        .text,
    );
    answers.push(
      (
        await send(`${hub.url}/admin/${encodeURIComponent(secret)}?k=${encodeURIComponent(secret)}`, {
          headers,
        })
      ).text,
    );
  }
  answers.push(metrics.text, reset.text, hub.console());

  for (const text of answers) {
    // Every planted secret has both marks, so that a half of one is found too.
    expect(text.match(/.{0,60}(?:canary-\d|yranac).{0,60}/g) ?? []).toEqual([]);
    expect(text).not.toContain(ADMIN_KEY);
  }
  expect(hub.records().length).toBeGreaterThan(planted.length);
});
