import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import {
  type CompanionProcess,
  type CompanionTiming,
  createCompanionProcess,
} from '../../../gateway/companion-process.ts';
import type { LoadedConfig } from '../../../lib/config/loaded.ts';
import type { LogFields, Logger } from '../../../lib/logging/logger.ts';
import { isAlive } from '../../helpers/hub-process.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';
import { until } from '../../helpers/until.ts';

const running: CompanionProcess[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((companion) => companion.stop(0)));
});

/** Supervises a program whose source is given; it sees its start message as `start`. */
function supervise(source: string, timing: Partial<CompanionTiming> = {}) {
  const entry = join(temporaryFolder(), 'companion.mjs');
  writeFileSync(
    entry,
    `const tell = (message) => process.connected && process.send(message);
     process.on('disconnect', () => process.exit());
     process.on('message', (message) => {
       if (message.type === 'stop') process.exit(0);
       if (message.type === 'start') { const start = message; ${source} }
       else onMessage(message);
     });
     let onMessage = (message) => message.type === 'ping' && tell({ type: 'pong' });`,
  );
  const records: { message: string; fields: LogFields | undefined }[] = [];
  const lines: string[] = [];
  let ready = 0;
  const write = (message: string, fields?: LogFields) => void records.push({ message, fields });
  const logger: Logger = { debug: write, info: write, warn: write, error: write, enabled: () => true };
  const companion = createCompanionProcess({
    entry,
    loaded: { config: { hub: {} }, secrets: [], hash: 'h', warnings: [] } as unknown as LoadedConfig,
    token: 'the-token',
    sockets: null,
    host: '127.0.0.1',
    port: 0,
    logger,
    onLine: (stream, line) => void lines.push(`${stream}: ${line}`),
    onReady: () => {
      ready += 1;
    },
    timing: { firstBackoff: 10, longestBackoff: 40, ...timing },
  });
  running.push(companion);
  return { companion, records, lines, ready: () => ready };
}

const READY = `tell({ type: 'ready', host: '127.0.0.1', port: 1 });`;

test('token and configuration come by the channel, not by arguments or environment', async () => {
  const { companion, lines } = supervise(
    `console.log(start.token, start.loaded.hash, process.argv.slice(2).join(), JSON.stringify(process.env).includes(start.token)); ${READY}`,
  );
  await companion.start(5000);
  await until('its output', () => lines.length > 0);
  expect(lines).toEqual(['stdout: the-token h --supervised false']);
});

test('it is up from the moment that it says so', async () => {
  const { companion } = supervise(READY);
  expect(companion.status()).toMatchObject({ status: 'starting', pid: null });
  await companion.start(5000);
  expect(companion.status()).toMatchObject({ status: 'up', restarts: 0, nextRetryAt: null });
  expect(companion.status().pid).toBeGreaterThan(0);
});

test('a reason not to start is the fault of the start', async () => {
  const { companion } = supervise(
    `tell({ type: 'fatal', message: 'port 1 is in use' }); process.exitCode = 1; process.disconnect();`,
  );
  await expect(companion.start(5000)).rejects.toThrow('port 1 is in use');
});

test('one that crashes before it listens is tried again, with growing pauses', async () => {
  const { companion, records } = supervise('process.exit(7);');
  await companion.start(600);
  await until('some attempts', () => records.length >= 4);
  const pauses = records.map((record) => record.fields?.retryInMs as number);
  for (const [index, pause] of pauses.slice(0, 4).entries()) {
    const full = Math.min(40, 10 * 2 ** index);
    expect(pause).toBeGreaterThanOrEqual(full / 2);
    expect(pause).toBeLessThanOrEqual(full);
  }
  expect(records[0]?.fields).toMatchObject({ code: 7 });
  expect(companion.status().restarts).toBeGreaterThanOrEqual(4);
});

test('the exit is seen at once, and the time of the next start is told', async () => {
  const { companion } = supervise(READY, { firstBackoff: 60_000, longestBackoff: 60_000 });
  await companion.start(5000);
  process.kill(companion.status().pid as number, 'SIGKILL');
  await until('it is down', () => companion.status().status === 'down', { timeoutMs: 500, everyMs: 1 });
  const { nextRetryAt, pid, restarts } = companion.status();
  expect({ pid, restarts }).toEqual({ pid: null, restarts: 1 });
  expect(Date.parse(nextRetryAt ?? '')).toBeGreaterThan(Date.now() + 20_000);
});

test('one that was up for long starts again as if it were the first time', async () => {
  const { companion, records, ready } = supervise(READY, {
    steadyAfter: 0,
    firstBackoff: 10,
    longestBackoff: 10_000,
  });
  await companion.start(5000);
  for (let round = 1; round <= 4; round += 1) {
    process.kill(companion.status().pid as number, 'SIGKILL');
    await until('the next one', () => ready() === round + 1);
  }
  expect(records.map((record) => record.fields?.retryInMs as number).every((pause) => pause <= 10)).toBe(
    true,
  );
});

test('one that hangs is killed and started again', async () => {
  const { companion, records, ready } = supervise(`${READY} onMessage = () => {};`, {
    heartbeatEvery: 20,
    heartbeatsMissed: 3,
  });
  await companion.start(5000);
  const { pid } = companion.status();
  await until('another one', () => ready() >= 2);
  expect(isAlive(pid as number)).toBe(false);
  expect(records[0]?.message).toMatch(/hangs/);
});

test('one that does not get as far as listening is killed and tried again', async () => {
  const { companion, records } = supervise('', { startTimeout: 300 });
  await companion.start(10);
  await until('it is tried again', () => companion.status().restarts >= 1);
  expect(records[0]?.message).toMatch(/does not start/);
});

test('one that answers its heartbeats lives', async () => {
  const { companion, ready } = supervise(READY, { heartbeatEvery: 10, heartbeatsMissed: 20 });
  await companion.start(5000);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(ready()).toBe(1);
});

test('one that leaves is down before it has ended', async () => {
  const { companion } = supervise(`${READY} setTimeout(() => tell({ type: 'leaving' }), 20);`);
  await companion.start(5000);
  await until('it is down', () => companion.status().status === 'down');
  expect(companion.status().restarts).toBe(0);
});

test('one that does not end when told to is killed, and none follows', async () => {
  const { companion, ready } = supervise(
    `process.removeAllListeners('message'); process.on('SIGTERM', () => {}); ${READY}`,
    { endMargin: 50 },
  );
  await companion.start(5000);
  const { pid } = companion.status();
  await companion.stop(10);
  expect(isAlive(pid as number)).toBe(false);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(ready()).toBe(1);
});
