import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { temporaryFolder } from '../../helpers/temp-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const RECORDS = 5000;

/** Logs `RECORDS` records to console and file at once, then does what the test is about. */
const program = `
import { createLogs } from './lib/logging/create-logs.ts';
const type = { enabled: true, console: process.env.CONSOLE === 'yes', file: true, level: 'info' };
const types = Object.fromEntries(['access', 'error', 'aiLink', 'proxy', 'videohost', 'tools'].map((n) => [n, type]));
const logs = createLogs({
  config: { types, fileRotation: true, maxFileSize: '10m', maxFiles: '14d' },
  secrets: [],
  directory: process.env.DIRECTORY,
});
const logger = logs.logger('access', 'm');
const write = () => { for (let at = 0; at < ${RECORDS}; at += 1) logger.info('record ' + at, { text: 'x'.repeat(100) }); };
const ends = {
  exit() { write(); process.exit(3); },
  later() { write(); setTimeout(() => process.exit(3), 5); },
  uncaught() { write(); throw new Error('nobody catches this'); },
  rejected() { write(); void Promise.reject(new Error('nor this')); setInterval(() => {}, 1000); },
  stays() {
    setInterval(() => {
      for (let at = 0; at < 200; at += 1) logger.info('record', { text: 'x'.repeat(1000) });
    }, 5);
    setTimeout(() => {
      process.stderr.write(JSON.stringify({ lost: logs.lost() }));
      process.exit(0);
    }, 600);
  },
};
ends[process.env.END]();
`;

let directory: string;
let entry: string;

beforeAll(async () => {
  directory = temporaryFolder();
  entry = join(directory, 'program.mjs');
  await build({
    stdin: { contents: program, resolveDir: root, loader: 'js' },
    outfile: entry,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: {
      js: "import { createRequire as __create } from 'node:module'; const require = __create(import.meta.url);",
    },
  });
});

function run(end: string, toConsole: boolean, name: string): ChildProcess {
  return spawn(process.execPath, [entry], {
    env: { END: end, CONSOLE: toConsole ? 'yes' : 'no', DIRECTORY: join(directory, name) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function textOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  for await (const chunk of stream ?? []) text += chunk;
  return text;
}

const exitOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('exit', (code) => resolve(code)));

const numbersIn = (text: string): number[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => Number(JSON.parse(line).message.replace('record ', '')));

const ALL = Array.from({ length: RECORDS }, (_, at) => at);

describe('what was logged before the end of a process', () => {
  test.each([
    ['exit', 3],
    ['later', 3],
    ['uncaught', 1],
    ['rejected', 1],
  ])('is written whole when it ends by %s', async (end, code) => {
    const child = run(end, true, end);
    const [shown, exit] = await Promise.all([textOf(child.stdout), exitOf(child), textOf(child.stderr)]);
    const day = new Date().toISOString().slice(0, 10);
    const written = readFileSync(join(directory, end, `app-access-${day}.log`), 'utf8');
    expect(exit).toBe(code);
    expect(numbersIn(shown)).toEqual(ALL);
    expect(numbersIn(written).sort((a, b) => a - b)).toEqual(ALL);
  });
});

describe('a console that nobody reads', () => {
  test('holds up neither the process nor its end', async () => {
    const child = run('stays', true, 'stays');
    child.stdout?.pause();
    const [report, exit] = await Promise.all([textOf(child.stderr), exitOf(child)]);
    const { lost } = JSON.parse(report.split('\n').at(-1) ?? '');
    expect(exit).toBe(0);
    expect(lost).toBeGreaterThan(0);
  });

  test('and that was closed ends nothing, and is warned of once', async () => {
    const child = run('stays', true, 'closed');
    child.stdout?.destroy();
    const [report, exit] = await Promise.all([textOf(child.stderr), exitOf(child)]);
    expect(exit).toBe(0);
    expect(report.match(/standard output cannot be written/g)).toHaveLength(1);
    expect(report).toContain('EPIPE');
  });
});
