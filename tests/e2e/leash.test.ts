import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { isAlive, root } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

test('a hub does not outlive the test process that started it, even one that is killed', async () => {
  const script = `
    const { importTs } = await import('${root}/tests/helpers/import-ts.mjs');
    const { startHubProcess } = await importTs(new URL('file://${root}/tests/helpers/hub-process.ts'));
    const hub = await startHubProcess();
    console.log(JSON.stringify({ pids: hub.pids(), cwd: hub.cwd }));
    setInterval(() => {}, 1000);
  `;
  const tester = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(tester.stdout.setEncoding('utf8'), 'data')) as [string];
  const { pids, cwd } = JSON.parse(line) as { pids: number[]; cwd: string };
  expect(pids.length).toBeGreaterThanOrEqual(2);
  expect(pids.every(isAlive)).toBe(true);
  tester.kill('SIGKILL');
  await until('everybody gone', () => !pids.some(isAlive));
  await until('its directory gone', () => !existsSync(cwd));
});
