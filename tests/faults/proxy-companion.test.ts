import { expect, test } from '@jest/globals';
import { open, send } from '../helpers/http.ts';
import { ADMIN_KEY, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';
import { startUpstream } from '../helpers/upstream.ts';

test('proxies answer on while the companion is dead, and what they counted then is not lost [C9-counts]', async () => {
  const upstream = await startUpstream();
  const hub = await startHub({
    config: {
      proxies: [{ id: 'wiki', url: upstream.url }],
      auth: { admin: { enabled: true, apiKeys: [ADMIN_KEY] } },
    },
  });
  const headers = { 'x-admin-key': ADMIN_KEY };
  const runtime = async () => (await send(`${hub.url}/admin/runtime`, { headers })).json();
  const { pid } = (await runtime()).companion;
  expect((await send(`${hub.url}/proxy/wiki/before`)).status).toBe(200);

  // A stream that lives through it all.
  let push = (_text: string) => {};
  upstream.answer = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    push = (text) => void response.write(text);
    push('one;');
  };
  const stream = await open(`${hub.url}/proxy/wiki/stream`);
  let text = '';
  stream.message.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  stream.message.on('error', () => {});
  upstream.answer = undefined;

  process.kill(pid, 'SIGKILL');
  await until('its death is seen', async () => (await runtime()).companion.pid !== pid);
  const statuses = await Promise.all(
    Array.from({ length: 25 }, async () => (await send(`${hub.url}/proxy/wiki/meanwhile`)).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  push('two;');
  await until('the stream goes on', () => text === 'one;two;');

  const usage = await until('the companion is back', async () => (await runtime()).runtimeUsage);
  expect(usage.proxies).toMatchObject([{ id: 'wiki', statuses: { 200: expect.any(Number) } }]);
  const counted = usage.proxies[0].requests;
  // The one from before went with the companion's memory, or is among them if it had not been handed over yet.
  expect([25, 26]).toContain(counted);
  stream.leave();
  await until(
    'the stream is counted',
    async () => (await runtime()).runtimeUsage.proxies[0].requests === counted + 1,
  );
  await hub.stop();
});
