import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { startHeldServer } from '../helpers/held-server.ts';
import { type Answer, type OpenAnswer, open, send } from '../helpers/http.ts';
import { everythingStdio } from '../helpers/mcp-everything.ts';
import { ADMIN_KEY, defaultConfig, type HubProcess, isAlive, startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

const CALLS = 60;
const STREAMS = 30;

/** Two providers that keep calls in flight: one before its first byte, one in the middle of a stream. */
async function startBusyHub(config: object = {}) {
  const silent = await startHeldServer();
  const talking = await startHeldServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n');
  });
  const hub = await startHub({
    config: {
      ...defaultConfig,
      targets: [
        ...defaultConfig.targets,
        { id: 'silent', provider: 'openai-compatible', baseUrl: `${silent.url}/v1`, options: { model: 'm' } },
        {
          id: 'talking',
          provider: 'openai-compatible',
          baseUrl: `${talking.url}/v1`,
          options: { model: 'm' },
        },
      ],
      ...config,
    },
  });
  return { hub, silent, talking };
}

const chat = (hub: HubProcess, target: string, stream = false): Promise<Answer> =>
  send(`${hub.url}/v1/chat/completions`, {
    headers: { 'x-target': target },
    json: { stream, messages: [{ role: 'user', content: 'hi' }] },
  });

const openChat = (hub: HubProcess, target: string): Promise<OpenAnswer> =>
  open(`${hub.url}/v1/chat/completions`, {
    headers: { 'x-target': target },
    json: { stream: true, messages: [{ role: 'user', content: 'hi' }] },
  });

const runtime = async (hub: HubProcess) =>
  (await send(`${hub.url}/admin/runtime`, { headers: { 'x-admin-key': ADMIN_KEY } })).json();

const companionOf = async (hub: HubProcess): Promise<number> => (await runtime(hub)).companion.pid;

const starts = (hub: HubProcess): number => hub.stdout().match(/^ai-link listening on /gm)?.length ?? 0;

async function ready(hub: HubProcess): Promise<number> {
  return (await send(`${hub.url}/ready`)).status;
}

describe('a companion that is killed under load', () => {
  let hub: HubProcess;
  let calls: Answer[] = [];
  let streams: { status: number; text: string }[] = [];
  let lastFailureMs = 0;
  const healths: number[] = [];
  /** Answers of /ready from the kill on; a 200 with the companion that was there then. */
  const readies: { status: number; pid: number | null }[] = [];
  let killed = 0;
  // biome-ignore lint/suspicious/noExplicitAny: the body is what is tested
  let whileDown: any;
  let recoveredMs = 0;

  beforeAll(async () => {
    const busy = await startBusyHub();
    hub = busy.hub;
    killed = await companionOf(hub);
    const inFlight = Array.from({ length: CALLS }, () => chat(hub, 'silent'));
    let begun = 0;
    const flowing = Array.from({ length: STREAMS }, async () => {
      const { status, message } = await openChat(hub, 'talking');
      let text = '';
      message.setEncoding('utf8').on('data', (chunk: string) => {
        if (text === '') begun += 1;
        text += chunk;
      });
      await once(message, 'end');
      return { status, text };
    });
    await until('all are in flight', () => busy.silent.held() === CALLS && busy.talking.held() === STREAMS, {
      timeoutMs: 15_000,
    });

    await until('every stream has begun', () => begun === STREAMS);
    process.kill(killed, 'SIGKILL');
    const killedAt = performance.now();
    const all = Promise.all([Promise.all(inFlight), Promise.all(flowing)]).then((answers) => {
      [calls, streams] = answers;
      lastFailureMs = performance.now() - killedAt;
    });
    while (readies.at(-1)?.status !== 200) {
      const status = await ready(hub);
      readies.push({ status, pid: status === 200 ? await companionOf(hub) : null });
      healths.push((await send(`${hub.url}/health`)).status);
      if (status === 503)
        whileDown ??= await runtime(hub).then((body) =>
          body.companion.status === 'down' ? body : undefined,
        );
      await sleep(5);
    }
    recoveredMs = performance.now() - killedAt;
    await all;
  }, 60_000);

  test('fails every call in flight at once with 502 ailink_unavailable [C3-companion-502]', () => {
    expect(calls.map((answer) => answer.status)).toEqual(Array(CALLS).fill(502));
    expect(calls[0]?.json()).toMatchObject({ error: { type: 'upstream_error', code: 'ailink_unavailable' } });
    expect(calls[0]?.headers['x-should-retry']).toBeUndefined();
    expect(lastFailureMs).toBeLessThan(5000);
  });

  test('ends every stream in flight with one error frame and without [DONE] [C5-stream-error-frame]', () => {
    for (const { status, text } of streams) {
      expect(status).toBe(200);
      expect(text).not.toContain('[DONE]');
      const frames = text.trimEnd().split('\n\n');
      expect(JSON.parse(frames.at(-1)?.slice(6) ?? '')).toMatchObject({
        error: { code: 'ailink_unavailable' },
      });
      expect(frames.filter((frame) => frame.includes('"error"'))).toHaveLength(1);
    }
  });

  test('leaves /health at 200, and /ready is 503 until the next one listens [C3-companion-ready]', () => {
    expect(new Set(healths)).toEqual(new Set([200]));
    expect(readies[0]?.status).toBe(503);
    expect(readies.at(-1)).toEqual({ status: 200, pid: expect.any(Number) });
    expect(readies.at(-1)?.pid).not.toBe(killed);
    expect(recoveredMs).toBeLessThan(5000);
  });

  test('is shown as down, and nothing of it as known [C3-companion-runtime]', () => {
    expect(whileDown).toMatchObject({
      companion: { status: 'down', pid: null, restarts: 1, since: expect.any(String) },
      runtimeUsage: null,
      mcpConnections: [],
    });
  });

  test('is followed by one that works, counted as a restart', async () => {
    expect((await chat(hub, 'echo')).status).toBe(200);
    expect((await runtime(hub)).companion).toMatchObject({ status: 'up', restarts: 1, nextRetryAt: null });
  });
});

test('a companion that is killed again and again comes back each time, and nothing is left of any', async () => {
  const { hub } = await startBusyHub();
  const pids: number[] = [];
  for (let round = 1; round <= 4; round += 1) {
    const pid = await companionOf(hub);
    pids.push(pid);
    process.kill(pid, 'SIGKILL');
    await until('the next one is ready', async () => starts(hub) > round && (await ready(hub)) === 200, {
      timeoutMs: 15_000,
    });
  }
  expect((await runtime(hub)).companion.restarts).toBe(4);
  const family = hub.pids();
  expect(family).toHaveLength(2);
  expect((await hub.stop()).code).toBe(0);
  expect([...pids, ...family].filter(isAlive)).toEqual([]);
});

test('a companion that is told to end by somebody else finishes its calls and is started again', async () => {
  const { hub, silent } = await startBusyHub();
  const call = chat(hub, 'silent');
  await until('it is in flight', () => silent.held() === 1);
  process.kill(await companionOf(hub), 'SIGTERM');
  await until('it takes no more calls', async () => (await ready(hub)) === 503);
  silent.release();
  expect((await call).status).toBe(200);
  await until('the next one is ready', async () => starts(hub) === 2 && (await ready(hub)) === 200);
});

test('usage, reset and metrics are 502 while the companion is down [C3-companion-usage]', async () => {
  const { hub } = await startBusyHub();
  const pid = await companionOf(hub);
  process.kill(pid, 'SIGKILL');
  const headers = { 'x-admin-key': ADMIN_KEY };
  const answers = await Promise.all([
    send(`${hub.url}/admin/runtime/usage`, { headers }),
    send(`${hub.url}/admin/runtime/reset`, { headers, method: 'POST' }),
    send(`${hub.url}/metrics`, { headers }),
    send(`${hub.url}/mcp/tools`),
    send(`${hub.url}/v1/models`),
  ]);
  expect(answers.map((answer) => [answer.status, answer.json().error.code])).toEqual(
    Array(5).fill([502, 'ailink_unavailable']),
  );
});

test('a companion that is frozen makes /ready 503 in bounded time, and 200 again when it goes on [S7-ready-503]', async () => {
  const { hub } = await startBusyHub();
  const pid = await companionOf(hub);
  process.kill(pid, 'SIGSTOP');
  const begun = performance.now();
  expect(await ready(hub)).toBe(503);
  expect(performance.now() - begun).toBeLessThan(4000);
  expect((await send(`${hub.url}/health`)).status).toBe(200);
  process.kill(pid, 'SIGCONT');
  await until('it is ready again', async () => (await ready(hub)) === 200);
  expect(await companionOf(hub)).toBe(pid);
});

test('a gateway that is killed leaves no process and no directory behind within two seconds', async () => {
  const { hub, talking } = await startBusyHub({
    mcp: {
      servers: [{ ...everythingStdio(), autoConnect: true }],
    },
  });
  const stream = chat(hub, 'talking', true).catch(() => undefined);
  await until('a stream flows', () => talking.held() === 1);
  await until('the tool server runs', () => hub.pids().length === 3, { timeoutMs: 15_000 });
  const family = hub.pids();
  process.kill(hub.pid, 'SIGKILL');
  await until('nothing is left', () => !family.some(isAlive), { timeoutMs: 2000 });
  await stream;
});
