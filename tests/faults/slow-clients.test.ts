import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';
import { startUpstream } from '../helpers/upstream.ts';

/** What an ordinary request may take while the hub is beset, in ms; on a quiet machine it takes a few. */
const ORDINARY_MS = 5000;

let hub: HubProcess;
const sockets: Socket[] = [];
const drips: NodeJS.Timeout[] = [];

beforeAll(async () => {
  const upstream = await startUpstream();
  hub = await startHub({
    config: {
      targets: [{ id: 'echo', provider: 'echo', options: { model: 'echo-1' } }],
      proxies: [{ id: 'wiki', url: upstream.url }],
    },
  });
});
afterEach(() => {
  for (const drip of drips.splice(0)) clearInterval(drip);
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function connectMany(count: number, first = ''): Promise<Socket[]> {
  const { hostname, port } = new URL(hub.url);
  const opened: Socket[] = [];
  // In batches: the listen backlog is not what is tested.
  while (opened.length < count) {
    const batch = Array.from({ length: Math.min(200, count - opened.length) }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      sockets.push(socket);
      return socket;
    });
    await Promise.all(batch.map((socket) => once(socket, 'connect')));
    opened.push(...batch);
  }
  if (first !== '') for (const socket of opened) socket.write(first);
  return opened;
}

/** Sends one more byte on every socket, again and again. */
function drip(slow: readonly Socket[], byte: string): void {
  drips.push(setInterval(() => slow.map((socket) => socket.write(byte)), 100));
}

async function expectOrdinaryAnswers(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    const messages = [{ role: 'user', content: 'hello' }];
    const answers = await Promise.all([
      send(`${hub.url}/health`, { timeoutMs: ORDINARY_MS }),
      send(`${hub.url}/proxy/wiki/x`, { timeoutMs: ORDINARY_MS }),
      send(`${hub.url}/v1/chat/completions`, { json: { model: 'echo', messages }, timeoutMs: ORDINARY_MS }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  }
}

test('two thousand idle connections leave ordinary requests answered', async () => {
  const idle = await connectMany(2000);
  await expectOrdinaryAnswers();
  expect(idle.filter(({ destroyed }) => destroyed)).toHaveLength(0);
});

test('heads that come byte by byte leave ordinary requests answered', async () => {
  const slow = await connectMany(300, 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
  drip(slow, 'x');
  await expectOrdinaryAnswers();
});

test.each(['/v1/chat/completions', '/mcp/invoke', '/proxy/wiki/slow'])(
  'bodies that come byte by byte leave ordinary requests answered: %s',
  async (path) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`;
    const slow = await connectMany(300, head);
    drip(slow, ' ');
    await expectOrdinaryAnswers();
  },
);

test('one caller takes at most its share of places with slow bodies, and is told so', async () => {
  const head =
    'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n';
  const slow = await connectMany(520, head);
  const refused = await new Promise<string>((resolve) => {
    for (const socket of slow) socket.once('data', (chunk) => resolve(chunk.toString()));
  });
  expect(refused).toMatch(/^HTTP\/1\.1 429 [\s\S]*rate_limited/);
  expect((await send(`${hub.url}/health`, { timeoutMs: ORDINARY_MS })).status).toBe(200);
});
