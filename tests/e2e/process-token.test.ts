import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { root, runHubProcess } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';
import { until } from '../helpers/until.ts';

beforeAll(async () => {
  // Any command of the hub brings dist/ up to date.
  await runHubProcess({ command: 'check' });
});

/** Starts the built gateway beside a companion that writes down the token it is given. */
async function tokenOfOneStart(): Promise<string> {
  const directory = temporaryFolder();
  copyFileSync(join(root, 'dist/gateway.mjs'), join(directory, 'gateway.mjs'));
  writeFileSync(
    join(directory, 'companion.mjs'),
    `import { writeFileSync } from 'node:fs';
     process.on('disconnect', () => process.exit());
     process.on('message', (message) => {
       if (message.type !== 'start') return;
       writeFileSync('token', message.token);
       process.send({ type: 'ready', host: '127.0.0.1', port: 1 });
     });`,
  );
  writeFileSync(join(directory, 'config.yaml'), 'targets: []\n');
  const gateway = spawn(process.execPath, ['gateway.mjs'], {
    cwd: directory,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, TMPDIR: directory, HUB_PORT: '0', AILINK_PORT: '0' },
  });
  await until('the token is given', () => existsSync(join(directory, 'token')), { timeoutMs: 10_000 });
  const ended = once(gateway, 'exit');
  gateway.kill('SIGKILL');
  await ended;
  return readFileSync(join(directory, 'token'), 'utf8');
}

test('each start of a hub has a token of its own [C1-token-random]', async () => {
  const tokens = [await tokenOfOneStart(), await tokenOfOneStart()];
  for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(tokens[0]).not.toBe(tokens[1]);
});
