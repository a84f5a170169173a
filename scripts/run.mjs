/**
 * `node scripts/run.mjs <command> [arguments]`: builds what is out of date, then runs the command in this very
 * process, so that a signal to npm reaches it (contract §1).
 */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureBuilt } from '../esbuild.config.mjs';

/** Bundle and leading arguments of each command. */
const COMMANDS = {
  hub: ['gateway.mjs'],
  gateway: ['gateway.mjs', '--alone'],
  companion: ['companion.mjs'],
  offline: ['cli/offline.mjs'],
  check: ['cli/check.mjs'],
  setup: ['cli/setup.mjs'],
  docs: ['cli/docs.mjs'],
};

const [name = 'hub', ...rest] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  console.error(`Unknown command ${name}; known are ${Object.keys(COMMANDS).join(', ')}`);
  process.exit(1);
}
const [bundle, ...leading] = command;
try {
  await ensureBuilt();
} catch (error) {
  // esbuild has shown what does not compile.
  console.error(
    `The hub could not be built: ${error instanceof Error ? error.message.split('\n')[0] : error}`,
  );
  process.exit(1);
}
const entry = fileURLToPath(new URL(`../dist/${bundle}`, import.meta.url));
process.setSourceMapsEnabled(true);
process.argv = [process.execPath, entry, ...leading, ...rest];
await import(pathToFileURL(entry).href);
