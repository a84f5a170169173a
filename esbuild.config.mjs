/**
 * Bundles the hub: gateway, companion, one file a handler, the command-line tools and the panel, into `dist/`.
 * `node esbuild.config.mjs` builds; `ensureBuilt()` builds only what is older than its sources.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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

/** Pages of `admin-site/`: their entry, and the module of the hub that the built page takes the place of. */
const PAGES = [
  { name: 'panel', html: 'index.html', entry: 'src/main.tsx', module: 'lib/admin/panel-page.ts' },
  { name: 'docs', html: 'docs.html', entry: 'src/docs/main.tsx', module: 'lib/docs/docs-page.ts' },
];

/** Bundles a page with its script and styles into one HTML text that needs nothing else. */
async function buildPage(esbuild, { html, entry }) {
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: [join(root, 'admin-site', entry)],
    outdir: join(root, 'dist/admin-site'),
    metafile: true,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome120', 'firefox120', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const foreign = Object.keys(metafile.inputs).find(
    (path) => /(?:^|\/)lib\//.test(path) && !path.includes('node_modules'),
  );
  if (foreign !== undefined) throw new Error(`admin-site imports types only, but brings ${foreign}`);
  const text = (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text.trim() ?? '';
  // A function as replacement, because `$&` in a bundle is no pattern; `</script` would end the element.
  return readFileSync(join(root, 'admin-site', html), 'utf8')
    .replace('/*style*/', () => text('.css').replaceAll('</style', '<\\/style'))
    .replace('/*script*/', () => text('.js').replaceAll('</script', '<\\/script'));
}

/** Embeds the pages, so that the gateway is one file. */
async function embedPages(esbuild) {
  const pages = await Promise.all(
    PAGES.map(async (page) => ({ ...page, text: await buildPage(esbuild, page) })),
  );
  for (const { name, text } of pages) replaceFile(join(root, `dist/admin-site/${name}.html`), text);
  return {
    name: 'pages',
    setup({ onLoad }) {
      for (const { module, text } of pages) {
        onLoad({ filter: new RegExp(`${module.replaceAll('.', '\\.')}$`) }, () => ({
          contents: `export const page = ${JSON.stringify(text)};`,
        }));
      }
    },
  };
}

/** Maps of the processes that live long; the others are not worth the second that it takes. */
const LONG_LIVED_MAP = /[\\/](?:gateway|companion|video-sender)\.mjs\.map$/;

/**
 * A source map without the packages' part. Node reads a map whole as soon as anything looks at a stack, and that part,
 * which nobody follows, made each process 70 MB larger (measured).
 */
async function ownMappings(contents) {
  const { decode, encode } = await import('@jridgewell/sourcemap-codec');
  const map = JSON.parse(Buffer.from(contents).toString('utf8'));
  const kept = map.sources.filter((source) => !source.includes('node_modules/'));
  const places = new Map(kept.map((source, index) => [source, index]));
  const mappings = decode(map.mappings).map((line) => {
    let isOwn = false;
    return line.flatMap(([column, source, ...origin]) => {
      const place = source === undefined ? undefined : places.get(map.sources[source]);
      const was = isOwn;
      isOwn = place !== undefined;
      if (isOwn) return [[column, place, origin[0], origin[1]]];
      // Ends what was mapped before on this line.
      return was ? [[column]] : [];
    });
  });
  return JSON.stringify({ ...map, sources: kept, names: [], mappings: encode(mappings) });
}

/** Builds everything. Throws on a compile error, which esbuild has printed by then. */
export async function build() {
  const esbuild = await import('esbuild');
  const pages = await embedPages(esbuild);
  const { outputFiles } = await esbuild.build({
    entryPoints: [
      { in: join(root, 'gateway/main.ts'), out: 'gateway' },
      { in: join(root, 'gateway/video-sender.ts'), out: 'video-sender' },
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
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [pages],
    // CommonJS packages inside an ES module bundle still call require.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  });
  await esbuild.stop();
  for (const { path, contents } of outputFiles) {
    replaceFile(path, LONG_LIVED_MAP.test(path) ? await ownMappings(contents) : contents);
  }
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
