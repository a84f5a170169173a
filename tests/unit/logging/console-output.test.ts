import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createConsoleOutput, type LineOutput } from '../../../lib/logging/console-output.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';
import { until } from '../../helpers/until.ts';

let fd: number;
let output: LineOutput;
let warnings: string[];

/** A pipe that does not block, with a reader that reads when it is told to. */
beforeEach(() => {
  const path = join(temporaryFolder(), 'pipe');
  spawnSync('mkfifo', [path]);
  fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  warnings = [];
  output = createConsoleOutput({
    fd,
    now: () => 0,
    flushAfterMs: 1,
    report: (message) => warnings.push(message),
    retryAfterMs: 1000,
  });
});

afterEach(() => closeSync(fd));

/** Reads what is in the pipe, at most `most` bytes. */
function read(most: number): string {
  const buffer = Buffer.alloc(most);
  try {
    return buffer.toString('latin1', 0, readSync(fd, buffer));
  } catch {
    return '';
  }
}

describe('a pipe whose reader is slow', () => {
  test('gets every line whole and once, in order', async () => {
    const lines = Array.from({ length: 4000 }, (_, at) => `line ${at} ${'x'.repeat(at % 97)}`);
    for (const line of lines) output.append(line);
    let text = '';
    await until('all lines', () => {
      text += read(10_007);
      return text.endsWith(`${lines.at(-1)}\n`);
    });
    expect(text.split('\n').slice(0, -1)).toEqual(lines);
    expect([output.lost(), warnings]).toEqual([0, []]);
  });

  test('costs records past a bound, which are counted and told of', async () => {
    const line = 'x'.repeat(999);
    for (let at = 0; at < 6000; at += 1) output.append(line);
    const lost = output.lost();
    expect(lost).toBeGreaterThan(1000);
    let bytes = 0;
    await until('what was kept', () => {
      bytes += read(1_000_000).length;
      return bytes === (6000 - lost) * 1000;
    });
    await until('the warning', () => warnings.length === 1);
    expect(warnings[0]).toContain(`${lost} records were dropped`);
  });

  test('holds up the end of a process for a bounded time only', () => {
    for (let at = 0; at < 1000; at += 1) output.append('x'.repeat(999));
    output.flushSync();
    expect(read(1_000_000).length).toBeGreaterThan(0);
  });
});
