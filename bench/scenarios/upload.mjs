/**
 * One large video: through the hub with its title before and after the video, by curl straight to the platform's
 * resumable session, and by the single POST of the vendor's library; and what the hub needs for it.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openPageCache } from '../lib/page-cache.mjs';
import { PROFILES, WORK } from '../lib/places.mjs';
import { processorSeconds, residentMegabytes } from '../lib/proc.mjs';
import { startProgram } from '../lib/processes.mjs';
import { show, table } from '../lib/report.mjs';
import { median } from '../lib/stats.mjs';
import { startHub } from '../systems/hub.mjs';

const run = promisify(execFile);
const MB = 1024 * 1024;
/** How often the hub's memory is looked at while an upload runs, in ms. */
const LOOK_EVERY = 50;

/** A file of random bytes, made once. */
function videoFile(megabytes) {
  const path = join(WORK, `upload/video-${megabytes}.bin`);
  if (statSync(path, { throwIfNoEntry: false })?.size === megabytes * MB) return path;
  mkdirSync(join(WORK, 'upload'), { recursive: true });
  const file = openSync(path, 'w');
  for (let written = 0; written < megabytes; written += 1) writeSync(file, randomBytes(MB));
  closeSync(file);
  return path;
}

async function startPlatform() {
  const program = await startProgram({
    name: 'platform',
    command: process.execPath,
    args: [fileURLToPath(new URL('../lib/video-platform.mjs', import.meta.url))],
    cwd: WORK,
    env: process.env,
    outputFile: join(WORK, 'upload/platform.log'),
    ready: /platform (\{.*\})/,
  });
  return { ...program, ...JSON.parse(program.match[1]) };
}

/** Runs curl and gives the seconds that the transfer took. @throws unless the answer holds `expected` */
async function curl(args, expected) {
  const { stdout } = await run('curl', ['-sS', '-w', '\nseconds %{time_total}', ...args], { maxBuffer: MB });
  if (!stdout.includes(expected)) throw new Error(`curl got: ${stdout.slice(0, 500)}`);
  return Number(/seconds ([\d.]+)/.exec(stdout)[1]);
}

function systemsOf({ platform, hub, file }) {
  const bearer = `authorization: Bearer ${platform.tokens.access_token}`;
  const api = `${platform.url}/upload/youtube/v3/videos`;

  async function openSession() {
    const answer = await fetch(`${api}?uploadType=resumable&part=snippet,status`, {
      method: 'POST',
      headers: { authorization: bearer.slice(15), 'content-type': 'application/json' },
      body: JSON.stringify({
        snippet: { title: 'Bench', categoryId: '22' },
        status: { privacyStatus: 'private' },
      }),
    });
    return answer.headers.get('location');
  }
  const throughHub = (...forms) => {
    const { host, port } = hub.address;
    const fields = forms.flatMap((form) => ['-F', form]);
    // curl would wait a second for leave to send.
    return curl(
      ['-H', 'expect:', '-H', 'x-target: main', ...fields, `http://${host}:${port}/videohost/upload`],
      '"success":true',
    );
  };
  return [
    {
      name: 'curl, direct',
      upload: async () => {
        const { size } = statSync(file);
        const range = `content-range: bytes 0-${size - 1}/${size}`;
        return curl(
          ['-H', 'expect:', '-H', bearer, '-H', range, '-T', file, await openSession()],
          '"youtube#video"',
        );
      },
    },
    {
      name: 'single POST',
      upload: async () => {
        const script = fileURLToPath(new URL('../lib/single-post.mjs', import.meta.url));
        const { stdout } = await run(process.execPath, [
          script,
          platform.url,
          platform.tokens.access_token,
          file,
        ]);
        return Number(/seconds ([\d.]+)/.exec(stdout)[1]);
      },
    },
    {
      name: 'hub, title first',
      isHub: true,
      upload: () => throughHub('title=Bench', `video=@${file};type=video/mp4`),
    },
    {
      name: 'hub, video first',
      isHub: true,
      upload: () => throughHub(`video=@${file};type=video/mp4`, 'title=Bench'),
    },
  ];
}

/** Runs one upload and looks at the hub's memory meanwhile. */
async function measure(system, hub, fillPageCache) {
  fillPageCache();
  const pids = hub.tree();
  const before = residentMegabytes(pids);
  const cpu = processorSeconds(pids);
  let peak = before;
  const looking = setInterval(() => {
    peak = Math.max(peak, residentMegabytes(pids));
  }, LOOK_EVERY);
  try {
    const seconds = await system.upload();
    return { seconds, growthMb: peak - before, cpuSeconds: processorSeconds(pids) - cpu };
  } finally {
    clearInterval(looking);
  }
}

/** Runs the scenario; see `bench/README.md` for the shape of what it returns. */
export async function scenario({ quick, rounds, only, profile, say }) {
  const megabytes = quick ? 256 : 2048;
  const file = videoFile(megabytes);
  const platform = await startPlatform();
  const hub = await startHub({
    configuration: `videohost: ${JSON.stringify(platform.videohost)}\n`,
    headers: {},
    profileFolder: profile ? PROFILES : undefined,
  });
  const tokens = join(WORK, 'hub/tokens/videohost_token_main.json');
  writeFileSync(tokens, JSON.stringify(platform.tokens), { mode: 0o600 });
  const systems = systemsOf({ platform, hub, file }).filter(
    ({ name }) => only === undefined || only.some((word) => name.includes(word)),
  );

  say('filling memory with page cache');
  const fillPageCache = openPageCache(join(WORK, 'upload/page-cache.bin'));
  fillPageCache();
  say('warming up');
  for (const system of systems) await measure(system, hub, fillPageCache);

  if (profile) hub.startProfiling();
  const turns = rounds ?? (quick ? 3 : 5);
  const results = new Map(systems.map(({ name }) => [name, []]));
  for (let round = 0; round < turns; round += 1) {
    say(`round ${round + 1} of ${turns}`);
    for (let turn = 0; turn < systems.length; turn += 1) {
      const system = systems[(turn + round) % systems.length];
      results.get(system.name).push(await measure(system, hub, fillPageCache));
    }
  }
  if (!quick) rmSync(file);

  const of = (name) => results.get(name) ?? [];
  const ratio = (name, base) => {
    const ratios = of(name).flatMap((one, round) =>
      of(base)[round] ? [of(base)[round].seconds / one.seconds] : [],
    );
    return ratios.length === 0 ? Number.NaN : median(ratios);
  };
  const hubNames = ['hub, title first', 'hub, video first'];
  const growth = Math.max(...hubNames.flatMap((name) => of(name).map((one) => one.growthMb)));
  const bounds = [
    {
      what: "title first: throughput over curl's, direct",
      value: ratio(hubNames[0], 'curl, direct'),
      limit: 0.6,
      atLeast: true,
    },
    {
      what: "video first: throughput over curl's, direct",
      value: ratio(hubNames[1], 'curl, direct'),
      limit: 0.35,
      atLeast: true,
    },
    {
      what: "title first: throughput over the single POST's",
      value: ratio(hubNames[0], 'single POST'),
      limit: 0.9,
      atLeast: true,
    },
    { what: `growth of the hub's memory during ${megabytes} MB, in MB`, value: growth, limit: 100 },
  ];
  const rows = systems.map(({ name, isHub }) => {
    const seconds = median(of(name).map((one) => one.seconds));
    const pick = (key) => (isHub ? show(median(of(name).map((one) => one[key]))) : '–');
    return [name, show(megabytes / seconds), show(seconds), pick('cpuSeconds'), pick('growthMb')];
  });
  return {
    title: 'upload: one large video, side by side',
    systems: [{ name: 'hub', version: hub.version }],
    rounds: turns,
    tables: [table(['way', 'MB/s', 'seconds', "hub's processor s", "hub's memory growth MB"], rows)],
    bounds,
    notes: [
      `${megabytes} MB of random bytes, read from the page cache by curl, to the fake platform of the tests, which counts them. The hub takes a form, spools it to disk and sends it on in chunks of 8 MB; curl and the single POST send the same file to the same platform. Ratios are medians of the ratios of each round; client, hub and platform share the machine.`,
    ],
  };
}
