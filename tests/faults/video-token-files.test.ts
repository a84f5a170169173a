import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { root } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';

const WRITES = 1000;

test('a thousand writes under SIGKILL leave no torn and no empty token file [C7-token-atomic]', async () => {
  const directory = temporaryFolder();
  const script = join(directory, 'writer.mjs');
  // Writes tokens that differ in length, again and again, until it is killed; each with a sum that proves it whole.
  writeFileSync(
    join(directory, 'writer.ts'),
    `import { createFileTokenStore } from '${join(root, 'lib/videohost/token-store/file.ts')}';
     const store = createFileTokenStore({ directory: '${join(directory, 'tokens')}', pattern: 't_{id}.json' });
     for (let count = Number(process.argv[2]); ; count += 1) {
       const length = 100 + ((count * 7919) % 9000);
       await store.write('main', { access_token: 'x'.repeat(length), refresh_token: String(length), scope: String(count), token_type: 'Bearer', expiry_date: count });
       process.stdout.write(count + '\\n');
     }`,
  );
  await build({
    entryPoints: [join(directory, 'writer.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  const file = join(directory, 'tokens/t_main.json');
  let written = 0;
  while (written < WRITES) {
    const writer = spawn(process.execPath, [script, String(written + 1)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = once(writer, 'close');
    let last = written;
    writer.stdout.setEncoding('utf8').on('data', (text: string) => {
      last = Math.max(last, ...text.trim().split('\n').map(Number));
    });
    await once(writer.stdout, 'data');
    await sleep(Math.random() * 60);
    writer.kill('SIGKILL');
    await closed;
    const tokens = JSON.parse(readFileSync(file, 'utf8'));
    expect(tokens.access_token).toHaveLength(Number(tokens.refresh_token));
    // What was reported as written is there, or something newer.
    expect(Number(tokens.scope)).toBeGreaterThanOrEqual(last);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    written = last;
  }
  // Halves that lost their writer are few, hidden, and swept by a later start.
  expect(readdirSync(join(directory, 'tokens')).filter((name) => !name.startsWith('.'))).toEqual([
    't_main.json',
  ]);
}, 120_000);
