import { beforeAll, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';
import { startUpstream, type Upstream } from '../helpers/upstream.ts';

let hub: HubProcess;
let hanging: Upstream;

beforeAll(async () => {
  const [one, sound] = await Promise.all([startUpstream(), startUpstream()]);
  hanging = one;
  hub = await startHub({
    config: {
      hub: { limits: { concurrency: 20, queue: 0 } },
      targets: [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }],
      proxies: [
        { id: 'hanging', url: hanging.url, timeout: 60_000 },
        { id: 'sound', url: sound.url },
      ],
    },
  });
});

test('a service that hangs takes its share of places, and no other route waits for it [C9-failure]', async () => {
  let waiting = 0;
  hanging.answer = () => {
    waiting += 1;
  };
  const leaving = new AbortController();
  const held = Array.from({ length: 10 }, () =>
    send(`${hub.url}/proxy/hanging/x`, { signal: leaving.signal }).catch(() => undefined),
  );
  await until('all of its places are taken', () => waiting === 10);
  const more = await send(`${hub.url}/proxy/hanging/x`);
  expect([more.status, more.json().error.code, more.headers['retry-after']]).toEqual([
    503,
    'overloaded',
    '1',
  ]);
  const others = await Promise.all([
    send(`${hub.url}/proxy/sound/x`),
    send(`${hub.url}/v1/models`),
    send(`${hub.url}/health`),
  ]);
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200]);

  leaving.abort();
  await Promise.all(held);
  hanging.answer = undefined;
  // Whoever left has given its place back.
  await until('it is used again', async () => (await send(`${hub.url}/proxy/hanging/x`)).status === 200);
});
