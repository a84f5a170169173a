import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createCompanionServer } from '../../../companion/server.ts';
import { createCompanionClient } from '../../../lib/companion-client/create-client.ts';
import { createProxyCounters } from '../../../lib/proxy/counts.ts';
import { createUsageCounters } from '../../../lib/usage/counters.ts';
import { createUsageRoutes } from '../../../lib/usage/internal-routes.ts';
import { until } from '../../helpers/until.ts';

const TOKEN = 'a token of the internal API, long enough';
const quiet = { debug() {}, info() {}, warn() {}, error() {}, enabled: () => false };
const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A real companion's counters, behind a line that can lose calls or their answers. */
async function fixture(afterMs?: number) {
  const usage = createUsageCounters({ now: Date.now, price: () => undefined });
  const { servers } = createCompanionServer({
    token: TOKEN,
    routes: createUsageRoutes({ counters: usage, mcp: { connections: () => [], reset() {} } }),
    health: { status: 'ok', pid: process.pid, configHash: '' },
    logger: quiet,
  });
  await new Promise<void>((resolve) => servers.port.listen(0, '127.0.0.1', resolve));
  const { port } = servers.port.address() as AddressInfo;
  const client = createCompanionClient({ address: { url: `http://127.0.0.1:${port}` }, token: TOKEN });
  const line = { isDown: false, losesAnswers: false, bodies: [] as unknown[] };
  const counters = createProxyCounters({
    companion: {
      async call<T>(call: Parameters<typeof client.call>[0]): Promise<T> {
        line.bodies.push(call.body);
        if (line.isDown) throw new Error('down');
        const answer = await client.call<T>(call);
        if (line.losesAnswers) throw new Error('the answer was lost');
        return answer;
      },
    },
    afterMs,
  });
  ends.push(counters.close, client.close, () => servers.port.close());
  return { counters, line, rows: () => usage.snapshot().proxies };
}

test('what was counted reaches the companion by itself, with statuses, errors and latencies [C9-counts]', async () => {
  const { counters, rows } = await fixture(5);
  counters.count('wiki', 200, 10);
  counters.count('wiki', 200, 20);
  counters.count('wiki', 404, 30);
  counters.count('api', 502, 1);
  await until('handed over', () => rows().length === 2);
  expect(rows()).toMatchObject([
    {
      id: 'wiki',
      requests: 3,
      errors: 0,
      statuses: { 200: 2, 404: 1 },
      latencyMs: { avg: 20, min: 10, max: 30 },
    },
    { id: 'api', requests: 1, errors: 1, statuses: { 502: 1 } },
  ]);
});

test('while the companion is away nothing is lost, and nothing is counted twice when it is back [C9-counts]', async () => {
  const { counters, line, rows } = await fixture();
  line.isDown = true;
  for (let turn = 0; turn < 3; turn += 1) {
    counters.count('wiki', 200, 5);
    await expect(counters.handOver()).rejects.toThrow('down');
  }
  line.isDown = false;
  await counters.handOver();
  await counters.handOver();
  expect(rows()).toMatchObject([{ id: 'wiki', requests: 3 }]);
});

test('a hand-over whose answer was lost is sent again and counts once [C9-counts]', async () => {
  const { counters, line, rows } = await fixture();
  line.losesAnswers = true;
  counters.count('wiki', 200, 5);
  for (let turn = 0; turn < 3; turn += 1) await expect(counters.handOver()).rejects.toThrow('lost');
  counters.count('wiki', 200, 5);
  line.losesAnswers = false;
  await counters.handOver();
  expect(rows()).toMatchObject([{ id: 'wiki', requests: 2 }]);
  expect(line.bodies).toHaveLength(5);
});

test('hand-overs at once do not overtake each other', async () => {
  const { counters, rows } = await fixture();
  const all = [];
  for (let turn = 0; turn < 20; turn += 1) {
    counters.count('wiki', 200, 5);
    all.push(counters.handOver());
  }
  await Promise.all(all);
  expect(rows()).toMatchObject([{ id: 'wiki', requests: 20 }]);
});

test('what waits for the companion does not grow with requests [C9-counts]', async () => {
  const { counters, line, rows } = await fixture();
  line.isDown = true;
  for (let turn = 0; turn < 20_000; turn += 1) counters.count('wiki', 200 + (turn % 3), 5);
  await expect(counters.handOver()).rejects.toThrow('down');
  for (let turn = 0; turn < 20_000; turn += 1) counters.count('wiki', 200, 5);
  expect(JSON.stringify(line.bodies.at(-1)).length).toBeLessThan(10_000);
  line.isDown = false;
  await counters.handOver();
  expect(rows()).toMatchObject([{ requests: 40_000 }]);
});
