import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Imports a TypeScript file outside of jest's own loader, which Node 20 cannot do by itself. */
export async function importTs(url) {
  const path = fileURLToPath(url);
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    define: { 'import.meta.dirname': JSON.stringify(dirname(path)) },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
