import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { defaultConfig, runHubProcess, startHub } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';

const LISTENING = /^(hub|ai-link) listening on (http:\/\/127\.0\.0\.1:\d+)$/gm;

/** A port that somebody else listens on. */
async function takenPort(): Promise<{ port: number; release(): void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, release: () => void server.close() };
}

test('npm start runs the gateway and AI-Link and prints one line for each [C1-start-whole, C1-start-lines]', async () => {
  const hub = await startHub();
  expect([...hub.stdout().matchAll(LISTENING)].map(([, name]) => name)).toEqual(['ai-link', 'hub']);
  expect((await send(`${hub.url}/health`)).json()).toEqual({ status: 'ok' });
  expect((await send(`${hub.url}/ready`)).json()).toEqual({ status: 'ready' });
  expect(hub.pids()).toHaveLength(2);
  await hub.stop();
});

test('AI-Link demands its token on every call but its liveness, unknown paths too [C1-token-everywhere, C1-ailink-port]', async () => {
  const hub = await startHub();
  const { ailinkUrl } = hub;
  const health = await send(`${ailinkUrl}/health`);
  expect(health.status).toBe(200);
  expect(health.json()).toMatchObject({ status: 'ok', authorized: false });
  const calls = [
    send(`${ailinkUrl}/v1/chat/completions`, { json: { messages: [] } }),
    send(`${ailinkUrl}/runtime`),
    send(`${ailinkUrl}/no/such/path`),
    send(`${ailinkUrl}/health`, { method: 'POST' }),
    send(`${ailinkUrl}/`, { headers: { 'x-ailink-token': 'x'.repeat(64) } }),
  ];
  for (const answer of await Promise.all(calls)) {
    expect(answer.status).toBe(401);
    expect(answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
  }
  await hub.stop();
});

test.each(['HUB_PORT', 'AILINK_PORT'])(
  '%s in use is one line naming it, exit 1 and no process left [C1-port-in-use]',
  async (name) => {
    const taken = await takenPort();
    const ended = await runHubProcess({ env: { [name]: String(taken.port) } });
    taken.release();
    expect(ended.code).toBe(1);
    const lines = ended.stderr.trim().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`127\\.0\\.0\\.1:${taken.port} is in use`));
    expect(ended.stdout).not.toMatch(/hub listening/);
  },
);

test('an unwritable log directory is one line naming it and exit 1 [C1-log-dir-unwritable]', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'logs'), 'a file where the directory should be');
  const ended = await runHubProcess({
    cwd,
    config: { ...defaultConfig, logging: { types: { access: { file: true } } } },
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  expect(ended.stderr).toMatch(/log directory .*logs/);
});

test('an unwritable token directory is one line naming it and exit 1 [C1-token-dir-unwritable]', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'tokens'), 'a file where the directory should be');
  const ended = await runHubProcess({
    cwd,
    config: {
      ...defaultConfig,
      videohost: {
        accounts: [
          {
            id: 'main',
            client_id: 'id',
            client_secret: 'a-client-secret',
            redirect_uri: 'https://hub.example.org/videohost/auth/idp/callback?target=main',
          },
        ],
      },
    },
  });
  expect(ended.code).toBe(1);
  expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  expect(ended.stderr).toMatch(/token directory .*tokens/);
});

test('a stopped hub leaves nothing behind in the temporary directory [C1-drain-exit]', async () => {
  const place = temporaryFolder();
  const hub = await startHub({ env: { TMPDIR: place } });
  // Beside it lies the record of running tool servers, which outlives a hub.
  const sockets = () => readdirSync(place).filter((name) => /^hub-\w{6}$/.test(name));
  expect(sockets()).toHaveLength(1);
  expect((await hub.stop()).code).toBe(0);
  expect(sockets()).toEqual([]);
});

test('a temporary directory with a long name does not stand in the way', async () => {
  const place = join(temporaryFolder(), 'x'.repeat(100));
  const hub = await startHub({ env: { TMPDIR: place } });
  expect((await send(`${hub.url}/ready`)).status).toBe(200);
  expect((await hub.stop()).code).toBe(0);
});
