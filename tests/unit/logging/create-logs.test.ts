import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LoggingConfig, LogType } from '../../../lib/config/schema/logging.ts';
import { createLogs, type LogsOptions, type ProcessLogs } from '../../../lib/logging/create-logs.ts';
import { parseRelayLine, type RecordSink } from '../../../lib/logging/relay.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';
import { until } from '../../helpers/until.ts';

type TypeSwitches = LoggingConfig['types']['access'];

const TYPES: LogType[] = ['access', 'error', 'aiLink', 'proxy', 'videohost', 'tools'];

function configure(
  switches: Partial<TypeSwitches> = {},
  more: Partial<Omit<LoggingConfig, 'types'>> = {},
): LoggingConfig {
  const type = (): TypeSwitches => ({
    enabled: true,
    console: false,
    file: true,
    level: 'info',
    ...switches,
  });
  const types = Object.fromEntries(TYPES.map((name) => [name, type()])) as LoggingConfig['types'];
  return { types, fileRotation: true, maxFileSize: '10m', maxFiles: '14d', ...more };
}

let root: string;
let directory: string;
let consolePath: string;
let consoleFd: number;
let time: number;
let open: ProcessLogs[];

beforeEach(() => {
  root = temporaryFolder();
  directory = join(root, 'logs');
  consolePath = join(root, 'console');
  consoleFd = openSync(consolePath, 'a');
  time = Date.parse('2026-03-04T12:00:00Z');
  open = [];
});

afterEach(async () => {
  for (const logs of open) await logs.close();
  closeSync(consoleFd);
});

function start(config: LoggingConfig, more: Partial<LogsOptions> = {}): ProcessLogs {
  const logs = createLogs({
    config,
    secrets: [],
    directory,
    now: () => time,
    flushAfterMs: 1,
    consoleFd,
    retryAfterMs: 1000,
    ...more,
  });
  open.push(logs);
  return logs;
}

const lines = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);
const messages = (path: string): string[] => lines(path).map((line) => JSON.parse(line).message);
const file = (name: string): string => join(directory, name);
const shown = (): string[] => messages(consolePath);

describe('log types', () => {
  test('go to console, file, both or nowhere, each by its own switches [S2.1-log-switches, S2.1-log-types]', async () => {
    const config = configure({ file: false });
    config.types.access = { enabled: true, console: true, file: true, level: 'info' };
    config.types.error = { enabled: true, console: false, file: true, level: 'info' };
    config.types.aiLink = { enabled: true, console: true, file: false, level: 'info' };
    config.types.proxy = { enabled: false, console: true, file: true, level: 'info' };
    const logs = start(config);
    for (const type of TYPES) logs.logger(type, 'm').info(type);
    await logs.close();
    expect(shown()).toEqual(['access', 'aiLink']);
    expect(readdirSync(directory).sort()).toEqual(['app-access-2026-03-04.log', 'app-error-2026-03-04.log']);
    expect(messages(file('app-error-2026-03-04.log'))).toEqual(['error']);
    expect(logs.logger('proxy', 'm').enabled('error')).toBe(false);
  });

  test('write nothing below their level [S2.1-log-level]', async () => {
    const logs = start(configure({ level: 'warn' }));
    const logger = logs.logger('tools', 'm');
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      logger[level](level);
      expect(logger.enabled(level)).toBe(level === 'warn' || level === 'error');
    }
    await logs.close();
    expect(lines(file('app-tools-2026-03-04.log')).map((line) => JSON.parse(line).level)).toEqual([
      'warn',
      'error',
    ]);
  });

  test.each([
    [{ AWS_LAMBDA_LOG_LEVEL: 'ERROR' }, ['error']],
    [{ POWERTOOLS_LOGGER_SAMPLE_RATE: '1' }, ['debug', 'info', 'warn', 'error']],
    [{ POWERTOOLS_DEV: 'true', TZ: 'Asia/Tokyo' }, ['info', 'warn', 'error']],
  ])('obey the platform in %j, and write each record on a line of UTC', async (env, expected) => {
    const before = { ...process.env };
    Object.assign(process.env, env);
    try {
      const logger = start(configure({ file: false, console: true })).logger('tools', 'm');
      for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level](level);
    } finally {
      for (const name of Object.keys(env)) delete process.env[name];
      Object.assign(process.env, before);
    }
    await open[0]?.close();
    expect(lines(consolePath).map((line) => JSON.parse(line).level)).toEqual(expected);
    expect(JSON.parse(lines(consolePath)[0] ?? '').timestamp).toBe('2026-03-04T12:00:00.000Z');
  });

  test('write no directory when none of them has a file', () => {
    start(configure({ file: false, console: true }));
    expect(existsSync(directory)).toBe(false);
  });

  test('a field that throws when read costs the record, not the caller', async () => {
    const logs = start(configure());
    const fields = {
      get broken() {
        throw new Error('no');
      },
    };
    expect(() => logs.logger('error', 'm').info('lost', fields)).not.toThrow();
    await logs.close();
    expect(messages(file('app-error-2026-03-04.log'))).toEqual(['A log record could not be written']);
  });

  test('secrets are cut out of console and files [C8-secret-cut]', async () => {
    const logs = start(configure({ console: true }), { secrets: ['swordfish-swordfish'] });
    logs.logger('error', 'm').error('swordfish-swordfish', { url: 'http://h/?k=swordfish-swordfish' });
    await logs.close();
    for (const path of [file('app-error-2026-03-04.log'), consolePath]) {
      expect(readFileSync(path, 'utf8')).toContain('[REDACTED]');
      expect(readFileSync(path, 'utf8')).not.toContain('swordfish');
    }
  });
});

describe('log files', () => {
  test('change with the UTC day of the record, not of the write [S2.1-log-files, C2-log-parts]', async () => {
    const logs = start(configure(), { flushAfterMs: 10_000 });
    const logger = logs.logger('access', 'm');
    time = Date.parse('2026-03-04T23:59:59.999Z');
    logger.info('last of the day');
    time += 1;
    logger.info('first of the next');
    await logs.close();
    expect(messages(file('app-access-2026-03-04.log'))).toEqual(['last of the day']);
    expect(messages(file('app-access-2026-03-05.log'))).toEqual(['first of the next']);
  });

  test('go on in a further part when one is full, and no part is larger [S2.1-log-rotation, S2.1-log-max-size, C2-log-parts]', async () => {
    const logs = start(configure({}, { maxFileSize: '1k' }));
    const logger = logs.logger('access', 'm');
    for (let at = 0; at < 200; at += 1) logger.info(`record ${at}`);
    await logs.close();
    const names = readdirSync(directory);
    expect(names).toContain('app-access-2026-03-04.log');
    expect(names).toContain('app-access-2026-03-04.1.log');
    expect(names).toContain('app-access-2026-03-04.10.log');
    for (const name of names) expect(statSync(file(name)).size).toBeLessThanOrEqual(1024);
    const parts = names.sort((a, b) => partOf(a) - partOf(b));
    expect(parts.flatMap((name) => messages(file(name)))).toEqual(
      Array.from({ length: 200 }, (_, at) => `record ${at}`),
    );
  });

  test('a record larger than a part gets a part of its own', async () => {
    const logs = start(configure({}, { maxFileSize: '200b' }));
    const logger = logs.logger('access', 'm');
    for (const message of ['a', 'x'.repeat(1000), 'b']) logger.info(message);
    await logs.close();
    expect(readdirSync(directory)).toHaveLength(3);
    expect(messages(file('app-access-2026-03-04.1.log'))).toEqual(['x'.repeat(1000)]);
  });

  test('stay one a day without rotation [S2.1-log-rotation]', async () => {
    const logs = start(configure({}, { maxFileSize: '1k', fileRotation: false }));
    for (let at = 0; at < 100; at += 1) logs.logger('access', 'm').info(`record ${at}`);
    await logs.close();
    expect(readdirSync(directory)).toEqual(['app-access-2026-03-04.log']);
  });

  test('are gone on with after a restart, in the last part', async () => {
    mkdirSync(directory);
    writeFileSync(file('app-access-2026-03-04.log'), '{"message":"old"}\n');
    writeFileSync(file('app-access-2026-03-04.2.log'), '{"message":"newer"}\n');
    const logs = start(configure());
    logs.logger('access', 'm').info('new');
    await logs.close();
    expect(messages(file('app-access-2026-03-04.2.log'))).toEqual(['newer', 'new']);
  });

  test('a line cut short by a crash does not swallow the next record', async () => {
    mkdirSync(directory);
    writeFileSync(file('app-access-2026-03-04.log'), '{"message":"torn');
    const logs = start(configure());
    logs.logger('access', 'm').info('whole');
    await logs.close();
    expect(lines(file('app-access-2026-03-04.log'))).toEqual([
      '{"message":"torn',
      expect.stringContaining('"whole"'),
    ]);
  });

  test('are readable by the group at most', async () => {
    const before = process.umask(0);
    try {
      const logs = start(configure());
      logs.logger('access', 'm').info('x');
      await logs.close();
    } finally {
      process.umask(before);
    }
    expect(statSync(file('app-access-2026-03-04.log')).mode & 0o777).toBe(0o640);
    expect(statSync(directory).mode & 0o777).toBe(0o750);
  });

  test('that are too old are deleted, and nothing else is [S2.1-log-max-files]', async () => {
    mkdirSync(directory);
    const old = ['app-access-2026-02-01.log', 'app-videohost-2026-02-01.3.log'];
    const foreign = ['app-access-2026-02-01.log.gz', 'app-own-2026-02-01.log', 'notes-2020-01-01.log'];
    for (const name of [...old, ...foreign]) writeFileSync(file(name), 'x\n');
    const logs = start(configure());
    logs.logger('access', 'm').info('x');
    await logs.close();
    expect(readdirSync(directory).sort()).toEqual([...foreign, 'app-access-2026-03-04.log'].sort());
  });
});

const mountSmallDisk = (path: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path]).status === 0;

/** Mounting takes rights that not every machine gives. */
const canMount = (() => {
  const path = temporaryFolder();
  const mounted = mountSmallDisk(path);
  if (mounted) spawnSync('umount', [path]);
  return mounted;
})();
const testWithMount = canMount ? test : test.skip;

describe('a log file in trouble', () => {
  const today = 'app-access-2026-03-04.log';

  test('that was rotated away is begun anew under its name', async () => {
    const logs = start(configure());
    const logger = logs.logger('access', 'm');
    logger.info('one');
    await until('the write', () => existsSync(file(today)) && statSync(file(today)).size > 0);
    renameSync(file(today), file('moved'));
    time += 2000;
    logger.info('two');
    await logs.close();
    expect(messages(file('moved'))).toEqual(['one']);
    expect(messages(file(today))).toEqual(['two']);
  });

  test('whose directory was removed is made again', async () => {
    const logs = start(configure());
    const logger = logs.logger('access', 'm');
    logger.info('one');
    await until('the write', () => existsSync(file(today)));
    rmSync(directory, { recursive: true });
    time += 2000;
    logger.info('two');
    await logs.close();
    expect(messages(file(today))).toEqual(['two']);
    expect(logs.lost()).toBe(0);
  });

  test('a full disk costs records and one warning, and is tried again later', async () => {
    mkdirSync(directory);
    symlinkSync('/dev/full', file(today));
    const logs = start(configure());
    const logger = logs.logger('access', 'm');
    logger.info('lost with the write');
    await until('the write', () => logs.lost() === 1);
    logger.info('dropped at once');
    expect(logs.lost()).toBe(2);
    time += 1000;
    logger.info('lost with the second try');
    await until('the write', () => logs.lost() === 3);
    unlinkSync(file(today));
    time += 1000;
    logger.info('kept');
    await logs.close();
    expect(messages(file(today))).toEqual(['kept']);
    expect(shown()).toEqual([
      expect.stringMatching(/app-access-2026-03-04\.log cannot be written.*ENOSPC/),
      expect.stringMatching(/is written again; 3 records were dropped/),
    ]);
  });

  test('a directory that became a file costs records, never an error', async () => {
    const logs = start(configure());
    const logger = logs.logger('access', 'm');
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'in the way');
    logger.info('lost');
    await until('the write', () => logs.lost() === 1);
    rmSync(directory);
    time += 1000;
    logger.info('kept');
    await logs.close();
    expect(messages(file(today))).toEqual(['kept']);
    expect(shown()).toHaveLength(2);
  });

  testWithMount('a disk that fills up in the middle of a record keeps only whole records', async () => {
    mkdirSync(directory);
    mountSmallDisk(directory);
    try {
      const logs = start(configure(), { flushAfterMs: 10_000 });
      const logger = logs.logger('access', 'm');
      for (let at = 0; at < 1000; at += 1) logger.info(`record ${at} ${'x'.repeat(100)}`);
      // Closed first: a write that still runs may stand in the middle of a record.
      await logs.close();
      const kept = messages(file(today)).length;
      expect(kept).toBeGreaterThan(100);
      expect(readFileSync(file(today), 'utf8').endsWith('}\n')).toBe(true);
      expect(logs.lost()).toBeGreaterThan(0);
      expect(kept + logs.lost()).toBe(1000);
    } finally {
      spawnSync('umount', ['-l', directory]);
    }
  });

  test('stops the start when the directory cannot be written, and names it', () => {
    writeFileSync(directory, 'in the way');
    expect(() => start(configure())).toThrow(`The log directory ${directory} cannot be written`);
  });

  test('a full console drops and counts, and warns nobody through itself', async () => {
    const full = openSync('/dev/full', 'w');
    try {
      const logs = start(configure({ console: true, file: false }), { consoleFd: full, flushAfterMs: 0 });
      logs.logger('access', 'm').info('x');
      expect(logs.lost()).toBe(1);
      logs.logger('access', 'm').info('y');
      expect(logs.lost()).toBe(2);
      await logs.close();
    } finally {
      closeSync(full);
    }
  });
});

describe('records of another process', () => {
  test('are taken as they are, by the switches of their type [C2-log-one-owner]', async () => {
    const config = configure({ console: true });
    config.types.proxy.enabled = false;
    const logs = start(config);
    logs.ingest('aiLink', '{"message":"from the companion"}');
    logs.ingest('proxy', '{"message":"switched off"}');
    await logs.close();
    expect(readFileSync(file('app-aiLink-2026-03-04.log'), 'utf8')).toBe(
      '{"message":"from the companion"}\n',
    );
    expect(shown()).toEqual(['from the companion']);
  });

  test('come through a sink, which owns neither console nor files [C2-log-one-owner]', async () => {
    const taken: [string, string][] = [];
    const sink: RecordSink = {
      write: (type, line) => taken.push([type, JSON.parse(line).message]),
      flushSync: () => {},
      close: async () => {},
    };
    const logs = start(configure({ console: true }), { sink });
    logs.logger('tools', 'm').info('handed on');
    logs.logger('tools', 'm').debug('below the level');
    await logs.close();
    expect(taken).toEqual([['tools', 'handed on']]);
    expect(existsSync(directory)).toBe(false);
    expect(shown()).toEqual([]);
  });

  test.each([
    ['access\t{"a":1}', { type: 'access', line: '{"a":1}' }],
    ['access {"a":1}', undefined],
    ['other\t{"a":1}', undefined],
    ['access\tnot a record', undefined],
    ['Error: Cannot find module', undefined],
    ['', undefined],
  ])('%j is told from other output', (text, expected) => {
    expect(parseRelayLine(text)).toEqual(expected);
  });
});

const partOf = (name: string): number => Number(/\.(\d+)\.log$/.exec(name)?.[1] ?? 0);
