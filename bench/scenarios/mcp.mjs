/**
 * `echo` of the reference tool server over stdio: through the hub (REST, and as one MCP server), by the SDK's client
 * directly, and through the npm gateways mcp-proxy and supergateway. Calls a second and latency at 1 and 32 calls
 * in flight.
 */
import { join } from 'node:path';
import { openMcpSession } from '../lib/mcp-session.mjs';
import { PROFILES, ROOT } from '../lib/places.mjs';
import { medianOf, medianRatio, sumOf } from '../lib/rounds.mjs';
import { failureNotes, runSideBySide } from '../lib/side-by-side.mjs';
import { unaryTable } from '../lib/tables.mjs';
import { startHub } from '../systems/hub.mjs';
import { startMcpProxy, startSupergateway } from '../systems/mcp-peers.mjs';

const TOOL_SERVER = [
  join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
  'stdio',
];
const MESSAGE = 'what comes in goes out';
const PEERS = ['mcp-proxy', 'supergateway'];
const REST = 'hub';
const MCP = 'hub, POST /mcp';
const MOST_CONNECTIONS = 32;

const configuration = `
mcp:
  servers:
    - name: everything
      command: node
      args: ${JSON.stringify(TOOL_SERVER)}
`;

const workloads = (quick) => [
  { name: 'single', kind: 'toolCalls', connections: 1, seconds: quick ? 1 : 2 },
  { name: 'many', kind: 'toolCalls', connections: MOST_CONNECTIONS, seconds: quick ? 1 : 3 },
];

/** One body a connection: requests of one MCP session that are in flight together need ids of their own. */
const mcpBodies = (tool) =>
  Array.from({ length: MOST_CONNECTIONS }, (_, index) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: index + 1,
      method: 'tools/call',
      params: { name: tool, arguments: { message: MESSAGE } },
    }),
  );

function jobFor(workload, { direct, address, path, headers, bodies }) {
  const job = { ...workload, marker: MESSAGE, maxRequests: 1_000_000 };
  return direct
    ? { ...job, direct, server: TOOL_SERVER, call: { name: 'echo', arguments: { message: MESSAGE } } }
    : { ...job, address, path, headers, body: bodies };
}

async function startSystems({ only, profile, say }) {
  const systems = [{ name: 'direct', direct: true }];
  const wanted = (name) => only === undefined || only.includes(name);
  if (wanted('hub')) {
    say('starting hub');
    const hub = await startHub({
      configuration,
      headers: { 'x-target': 'everything' },
      profileFolder: profile ? PROFILES : undefined,
    });
    // The first listing connects the tool server.
    await (await fetch(`http://127.0.0.1:${hub.address.port}/mcp/tools`)).text();
    const body = JSON.stringify({ tool: 'echo', arguments: { message: MESSAGE } });
    systems.push({ ...hub, name: REST, path: '/mcp/invoke', bodies: [body] });
    systems.push({
      ...hub,
      name: MCP,
      version: undefined,
      path: '/mcp',
      headers: await openMcpSession(hub.address),
      bodies: mcpBodies('everything__echo'),
    });
  }
  for (const [name, start] of [
    ['mcp-proxy', startMcpProxy],
    ['supergateway', startSupergateway],
  ]) {
    if (!wanted(name)) continue;
    say(`starting ${name}`);
    systems.push({ ...(await start(TOOL_SERVER)), name, bodies: mcpBodies('echo') });
  }
  return systems;
}

/** The peer that did better in the medians: the hub is compared with that one alone. */
function betterPeer(of, workload, pick, sign) {
  return PEERS.filter((name) => of(workload, name).length > 0).sort(
    (a, b) => sign * (medianOf(of(workload, b), pick) - medianOf(of(workload, a), pick)),
  )[0];
}

function boundsOf(of) {
  const perSecond = (r) => r.requestsPerSecond;
  const p50 = (r) => r.latencyMs.p50;
  const many = betterPeer(of, 'many', perSecond, 1);
  const single = betterPeer(of, 'single', p50, -1);
  return [REST, MCP].flatMap((name) => [
    {
      what: `32 calls: ${name} over ${many}, calls a second`,
      value: medianRatio(of('many', name), of('many', many), perSecond),
      limit: 5,
      atLeast: true,
    },
    {
      what: `1 call: ${name} over ${single}, p50`,
      value: medianRatio(of('single', name), of('single', single), p50),
      limit: 0.25,
      shownLimit: '1/4',
    },
    {
      what: `calls failed at ${name}`,
      value: sumOf([...of('single', name), ...of('many', name)], (r) => r.failed),
      limit: 0,
    },
  ]);
}

/** Runs the scenario; see `bench/README.md` for the shape of what it returns. */
export async function scenario(options) {
  const systems = await startSystems(options);
  const { of, turns, measured } = await runSideBySide({ ...options, systems, workloads, jobFor });
  return {
    title: 'mcp: tool calls over stdio, side by side',
    systems,
    rounds: turns,
    tables: [
      unaryTable('1 call in flight', 'single', systems, of),
      unaryTable('32 calls in flight', 'many', systems, of),
    ],
    bounds: boundsOf(of),
    notes: [
      'The tool is `echo` of `@modelcontextprotocol/server-everything`; each system runs its own copy of the server, whose processor time is part of that system. `direct` is the SDK client in the load process itself, over pipes and without HTTP. Ratios are medians of the ratios of each round.',
      ...failureNotes(systems, measured, of),
    ],
  };
}
