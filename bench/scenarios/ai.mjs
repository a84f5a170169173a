/**
 * Chat completions through the hub, Portkey and nginx, and directly, all in front of the same provider: requests a
 * second, added latency and processor time at 1 and 32 connections, and 100 concurrent event streams.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { PROFILES } from '../lib/places.mjs';
import { medianRatio, sumOf } from '../lib/rounds.mjs';
import { failureNotes, runSideBySide } from '../lib/side-by-side.mjs';
import { streamTable, unaryTable } from '../lib/tables.mjs';
import { startHub } from '../systems/hub.mjs';
import { startNginx } from '../systems/nginx.mjs';
import { startPortkey } from '../systems/portkey.mjs';
import { startProvider } from '../systems/provider.mjs';

const PATH = '/v1/chat/completions';
const FRAMES = 50;
const CHUNK_MS = 10;
const messages = [
  { role: 'system', content: 'You answer briefly and name your sources.' },
  { role: 'user', content: 'What does a gateway in front of AI providers cost, and what does it give?' },
];
const body = (stream) => JSON.stringify({ model: 'bench-1', messages, ...(stream && { stream }) });

const hubConfiguration = (upstreamPort) => `
targets:
  - id: bench
    provider: openai-compatible
    baseUrl: http://127.0.0.1:${upstreamPort}/v1
    apiKey: sk-bench-provider-key
`;

/** The workloads of one round; `seconds` of measuring each. */
const workloads = (quick) => [
  { name: 'single', kind: 'unary', connections: 1, seconds: quick ? 1 : 2 },
  { name: 'many', kind: 'unary', connections: 32, seconds: quick ? 1 : 3 },
  { name: 'streams', kind: 'streams', streams: 100, seconds: quick ? 1 : 3 },
  { name: 'burst', kind: 'streams', streams: 100, seconds: 0, burst: true },
];

function jobFor(workload, system) {
  const streaming = workload.kind === 'streams';
  return {
    ...workload,
    address: system.address,
    headers: system.headers,
    path: PATH,
    body: body(streaming),
    ...(streaming
      ? { frames: FRAMES, streamMs: FRAMES * CHUNK_MS }
      : { marker: 'whole-answer', maxRequests: 1_000_000 }),
  };
}

async function startSystems({ only, profile, say }) {
  const { upstreamPort, direct } = await startProvider(FRAMES, CHUNK_MS);
  const systems = [direct];
  const starters = {
    nginx: () => startNginx({ upstreamPort }),
    hub: () =>
      startHub({
        configuration: hubConfiguration(upstreamPort),
        headers: { 'x-target': 'bench' },
        profileFolder: profile ? PROFILES : undefined,
      }),
    Portkey: () => startPortkey({ upstreamPort }),
  };
  for (const [name, start] of Object.entries(starters)) {
    if (only && !only.includes(name.toLowerCase())) continue;
    say(`starting ${name}`);
    systems.push(await start());
  }
  return systems;
}

function boundsOf(of) {
  const hub = (workload) => of(workload, 'hub');
  const peer = (workload) => of(workload, 'Portkey');
  const direct = of('single', 'direct');
  const streamed = [...hub('streams'), ...hub('burst')];
  const ratio = (workload, pick) => medianRatio(hub(workload), peer(workload), pick);
  const whenMeasured = (results, value) => (results.length === 0 ? Number.NaN : value);
  return [
    {
      what: "32 connections: hub's requests a second over Portkey's",
      value: ratio('many', (r) => r.requestsPerSecond),
      limit: 6,
      atLeast: true,
    },
    {
      what: "32 connections: hub's processor time a request over Portkey's",
      value: ratio('many', (r) => r.processorMicros),
      limit: 1 / 6,
      shownLimit: '1/6',
    },
    {
      what: "1 connection: hub's added p50 over Portkey's",
      value: ratio('single', (r, i) => r.latencyMs.p50 - direct[i].latencyMs.p50),
      limit: 0.4,
    },
    {
      what: "100 streams: hub's first chunk p50 over Portkey's",
      value: ratio('streams', (r) => r.firstChunkMs.p50),
      limit: 0.1,
    },
    {
      what: 'streams lost by the hub',
      value: whenMeasured(
        streamed,
        sumOf(streamed, (r) => r.streamsLost),
      ),
      limit: 0,
    },
    {
      what: 'chunks lost by the hub',
      value: whenMeasured(
        streamed,
        sumOf(streamed, (r) => Math.abs(r.framesLost)),
      ),
      limit: 0,
    },
    {
      what: 'requests failed at the hub',
      value: whenMeasured(
        hub('many'),
        sumOf([...hub('single'), ...hub('many')], (r) => r.failed),
      ),
      limit: 0,
    },
  ];
}

/** What the hub itself has counted and logged must be what was sent: its duties were on while it was measured. */
function dutyBounds(before, after, sent) {
  const counted = after.requests.total - before.requests.total;
  const logged = after.accessRecords - before.accessRecords;
  return [
    { what: 'requests sent that the hub did not count', value: Math.abs(sent - counted), limit: 0 },
    { what: 'requests sent without an access record', value: Math.abs(sent - logged), limit: 0 },
  ];
}

const TABLES = {
  single: (name, systems, of) => unaryTable('1 connection', name, systems, of),
  many: (name, systems, of) => unaryTable('32 connections', name, systems, of),
  streams: (name, systems, of) => streamTable('100 streams, starts spread', name, systems, of, FRAMES),
  burst: (name, systems, of) => streamTable('100 streams, opened at once', name, systems, of, FRAMES),
};

/** Runs the scenario; `run.mjs` prints what it returns. */
export async function scenario(options) {
  const systems = await startSystems(options);
  const hub = systems.find(({ name }) => name === 'hub');
  const facts = async () => {
    // Log records are written together, some milliseconds after their requests.
    await sleep(500);
    return { ...(await hub.usage()), accessRecords: hub.accessRecords(PATH) };
  };
  let before;
  const { of, turns, measured } = await runSideBySide({
    ...options,
    systems,
    workloads,
    jobFor,
    warmUps: options.quick ? 2 : 4,
    onWarm: async () => {
      before = hub && (await facts());
    },
  });

  const bounds = boundsOf(of);
  if (hub) {
    const sent =
      sumOf([...of('single', 'hub'), ...of('many', 'hub')], (r) => r.requests + r.failed) +
      sumOf([...of('streams', 'hub'), ...of('burst', 'hub')], (r) => r.streams);
    bounds.push(...dutyBounds(before, await facts(), sent));
  }
  return {
    title: 'ai: chat completions, side by side',
    systems,
    rounds: turns,
    tables: measured.map(({ name }) => TABLES[name](name, systems, of)),
    bounds,
    notes: [
      `A 600-byte completion; streams of ${FRAMES} chunks, the first at once and one more each ${CHUNK_MS} ms. Ratios are medians of the ratios of each round. Processor time is that of all processes of a system (hub: gateway and companion), user and system.`,
      ...failureNotes(systems, measured, of),
    ],
  };
}
