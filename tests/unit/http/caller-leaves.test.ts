import { afterEach, expect, test } from '@jest/globals';
import { open, send } from '../../helpers/http.ts';
import { until } from '../../helpers/until.ts';
import { closeServers, group, serve } from './serve.ts';

afterEach(closeServers);

test('the signal of a request fires when its caller leaves, before or after the head', async () => {
  const reasons: unknown[] = [];
  let arrived = 0;
  const { url, records } = await serve([
    group({
      method: 'GET',
      path: '/v1/:when',
      async handler(request, response) {
        arrived += 1;
        if (request.params.when === 'after') response.writeHead(200).write('begun');
        await new Promise((resolve) => request.hub.signal.addEventListener('abort', resolve));
        reasons.push(request.hub.signal.reason.code);
        throw request.hub.signal.reason;
      },
    }),
  ]);
  const begun = await open(`${url}/v1/after`);
  begun.leave();
  await until('the abort after the head', () => reasons.length === 1);
  const leaving = new AbortController();
  open(`${url}/v1/before`, { signal: leaving.signal }).catch(() => {});
  await until('the second request', () => arrived === 2);
  leaving.abort();
  await until('the abort before the head', () => reasons.length === 2 && records.length === 2);
  expect(reasons).toEqual(['client_closed_request', 'client_closed_request']);
  expect(records.map(({ type, fields }) => [type, fields.status, fields.aborted])).toEqual([
    ['access', 200, true],
    ['access', 499, true],
  ]);
});

test('the signal of a finished request stays quiet, and is the same for everybody who asks', async () => {
  const signals: AbortSignal[] = [];
  const { url, records } = await serve([
    group({
      method: 'GET',
      path: '/v1/fine',
      handler(request, response) {
        signals.push(request.hub.signal, request.hub.signal);
        response.end('fine');
      },
    }),
  ]);
  await send(`${url}/v1/fine`);
  await until('its record', () => records.length === 1);
  expect(signals[0]).toBe(signals[1]);
  expect(signals[0]?.aborted).toBe(false);
});

test('a signal asked for after the caller left has fired already', async () => {
  let late: AbortSignal | undefined;
  const { url } = await serve([
    group({
      method: 'GET',
      path: '/v1/late',
      handler(request, response) {
        response.once('close', () => {
          late = request.hub.signal;
        });
        response.writeHead(200).write('x');
      },
    }),
  ]);
  (await open(`${url}/v1/late`)).leave();
  await until('the departure', () => late !== undefined);
  expect(late?.aborted).toBe(true);
});
