/**
 * A small POST through the hub's proxy, a bare proxy in Node, nginx, and directly: requests a second, added latency
 * and processor time at 1 and 32 connections.
 */
import { PROFILES } from '../lib/places.mjs';
import { medianRatio, sumOf } from '../lib/rounds.mjs';
import { runSideBySide } from '../lib/side-by-side.mjs';
import { unaryTable } from '../lib/tables.mjs';
import { startBareProxy } from '../systems/bare-proxy.mjs';
import { startHub } from '../systems/hub.mjs';
import { startNginx } from '../systems/nginx.mjs';
import { startProvider } from '../systems/provider.mjs';

const BODY = JSON.stringify({ text: 'what goes in comes out '.repeat(10) });

const hubConfiguration = (upstreamPort) => `
proxies:
  - id: bench
    url: http://127.0.0.1:${upstreamPort}
`;

const workloads = (quick) => [
  { name: 'single', kind: 'unary', connections: 1, seconds: quick ? 1 : 2 },
  { name: 'many', kind: 'unary', connections: 32, seconds: quick ? 1 : 3 },
];

const jobFor = (workload, { address, headers, path = '/v1/anything' }) => ({
  ...workload,
  address,
  headers,
  path,
  body: BODY,
  marker: 'whole-answer',
  maxRequests: 1_000_000,
});

async function startSystems({ only, profile, say }) {
  const { upstreamPort, direct } = await startProvider();
  const systems = [direct];
  const starters = {
    nginx: () => startNginx({ upstreamPort }),
    bare: () => startBareProxy({ upstreamPort }),
    hub: async () => ({
      ...(await startHub({
        configuration: hubConfiguration(upstreamPort),
        headers: {},
        profileFolder: profile ? PROFILES : undefined,
      })),
      path: '/proxy/bench/v1/anything',
    }),
  };
  for (const [name, start] of Object.entries(starters)) {
    if (only && !only.includes(name)) continue;
    say(`starting ${name}`);
    systems.push({ ...(await start()), name });
  }
  return systems;
}

function boundsOf(of) {
  const hub = of('many', 'hub');
  return [
    {
      what: "32 connections: hub's processor time a request over the bare proxy's",
      value: medianRatio(hub, of('many', 'bare'), (r) => r.processorMicros),
      limit: 2.5,
    },
    {
      what: 'requests failed at the hub',
      value: hub.length === 0 ? Number.NaN : sumOf([...hub, ...of('single', 'hub')], (r) => r.failed),
      limit: 0,
    },
  ];
}

/** Runs the scenario; see `bench/README.md` for the shape of what it returns. */
export async function scenario(options) {
  const systems = await startSystems(options);
  const { of, turns, measured } = await runSideBySide({ ...options, systems, workloads, jobFor });
  const titles = { single: '1 connection', many: '32 connections' };
  return {
    title: 'proxy: small requests through a reverse proxy, side by side',
    systems,
    rounds: turns,
    tables: measured.map(({ name }) => unaryTable(titles[name], name, systems, of)),
    bounds: boundsOf(of),
    notes: [
      'The hub looks the proxy up, checks the path, limits, counts and writes an access record and a proxy record for each request; nginx writes an access log; `bare` is node:http and undici without any duty. Processor time of the hub is that of gateway and companion.',
    ],
  };
}
