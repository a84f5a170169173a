/** Reads V8 CPU profiles (`--cpu-prof`) of the bundled hub: which function, of which source file, took which share. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from './places.mjs';
import { table } from './report.mjs';

const maps = new Map();

function sourceMapOf(file) {
  if (!maps.has(file)) {
    const path = `${file}.map`;
    maps.set(file, existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined);
  }
  return maps.get(file);
}

/** `lib/http/limits.ts:40` for a position in a bundle, the address itself for anything else. */
function placeOf({ url, lineNumber, columnNumber }) {
  if (!url.startsWith('file:')) return url === '' ? '(native)' : url;
  const file = fileURLToPath(url);
  const entry = sourceMapOf(file)?.findEntry(lineNumber, columnNumber);
  if (entry?.originalSource === undefined) return `${relative(ROOT, file)}:${lineNumber + 1}`;
  const source = join(file, '..', decodeURIComponent(entry.originalSource));
  return `${relative(ROOT, source)}:${entry.originalLine + 1}`;
}

/** Self time (µs) by function, and the busy time of the whole profile (idle time left out). */
function selfTimes(profile) {
  const micros = new Map();
  profile.samples.forEach((id, index) => {
    micros.set(id, (micros.get(id) ?? 0) + profile.timeDeltas[index]);
  });
  const byFunction = new Map();
  let busy = 0;
  for (const { id, callFrame } of profile.nodes) {
    const time = micros.get(id) ?? 0;
    if (callFrame.functionName === '(idle)') continue;
    busy += time;
    const key = `${callFrame.functionName || '(anonymous)'}\t${placeOf(callFrame)}`;
    byFunction.set(key, (byFunction.get(key) ?? 0) + time);
  }
  return { byFunction, busy };
}

/** A source file without its line; a package or a part of Node by its name alone. */
function moduleOf(place) {
  const packaged = place.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/);
  return packaged ? packaged[1] : place.replace(/:\d+$/, '');
}

function share(time, busy) {
  return `${((time / busy) * 100).toFixed(1)} %`;
}

function topOf(times, top) {
  return [...times].sort(([, a], [, b]) => b - a).slice(0, top);
}

/** For each profile in `folder` the `top` functions and the `top` modules by self time. */
export function summariseProfiles(folder, top = 40) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.cpuprofile'))
    .map((name) => {
      const { byFunction, busy } = selfTimes(JSON.parse(readFileSync(join(folder, name), 'utf8')));
      const byModule = new Map();
      for (const [key, time] of byFunction) {
        const module = moduleOf(key.split('\t')[1]);
        byModule.set(module, (byModule.get(module) ?? 0) + time);
      }
      const functions = topOf(byFunction, top).map(([key, time]) => [...key.split('\t'), share(time, busy)]);
      const modules = topOf(byModule, top).map(([module, time]) => [module, share(time, busy)]);
      return [
        `${name}: ${(busy / 1e6).toFixed(1)} s busy`,
        table(['module', 'self'], modules),
        table(['function', 'place', 'self'], functions),
      ].join('\n\n');
    })
    .join('\n\n');
}
