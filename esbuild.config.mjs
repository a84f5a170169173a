/**
 * Bundles the hub: gateway, companion, one file a handler, the command-line tools and the panel, into `dist/`.
 * `node esbuild.config.mjs` builds; `ensureBuilt()` builds only what is older than its sources.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const SOURCES = [
  'lib',
  'gateway',
  'companion',
  'handlers',
  'cli',
  'admin-site',
  'package-lock.json',
  'esbuild.config.mjs',
];
const stamp = join(root, 'dist/.built');

function entriesOf(folder, except = []) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.ts') && !except.includes(name))
    .map((name) => ({ in: join(root, folder, name), out: `${folder}/${name.slice(0, -3)}` }));
}

/** Builds everything. Throws on a compile error, which esbuild has printed by then. */
export async function build() {
  const esbuild = await import('esbuild');
  const { outputFiles } = await esbuild.build({
    entryPoints: [
      { in: join(root, 'gateway/main.ts'), out: 'gateway' },
      { in: join(root, 'companion/main.ts'), out: 'companion' },
      ...entriesOf('handlers', ['adapter.ts']),
      ...entriesOf('cli'),
    ],
    outdir: join(root, 'dist'),
    write: false,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: 'linked',
    logLevel: 'warning',
    // CommonJS packages inside an ES module bundle still call require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  await esbuild.stop();
  for (const file of outputFiles) replaceFile(file.path, file.contents);
  replaceFile(stamp, '');
}

/** Writes beside the file and renames, so that a hub that starts meanwhile never reads half a bundle. */
function replaceFile(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, contents);
  renameSync(fresh, path);
}

function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Builds unless `dist/` is newer than every source. An image without sources is taken as built. */
export async function ensureBuilt() {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built > 0 && !existsSync(join(root, 'lib'))) return;
  const started = new Date();
  if (SOURCES.every((name) => newest(join(root, name)) <= built)) return;
  await build();
  // A source saved while the build ran must count as newer than it.
  utimesSync(stamp, started, started);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await build();
