/**
 * `npm run screenshots [-- directory]`: pictures of the panel and the API docs into docs/images, from a real hub with
 * real calls.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { ensureBuilt } from '../esbuild.config.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const helpers = join(root, 'tests/helpers');
// Below the root, so that the packages are found.
const bundle = join(root, `dist/screenshots.${process.pid}.mjs`);

await ensureBuilt();
await build({
  entryPoints: [join(helpers, 'screenshots.ts')],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
  // The helpers look for files beside themselves.
  define: {
    'import.meta.dirname': JSON.stringify(helpers),
    'import.meta.url': JSON.stringify(pathToFileURL(join(helpers, 'screenshots.ts')).href),
  },
});
const directory = process.argv[2] ?? join(root, 'docs/images');
mkdirSync(directory, { recursive: true });
try {
  const { takeScreenshots } = await import(pathToFileURL(bundle).href);
  for (const name of await takeScreenshots((picture) => join(directory, `${picture}.png`))) console.log(name);
} finally {
  rmSync(bundle, { force: true });
}
process.exit(0);
