import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { send } from '../helpers/http.ts';
import { root } from '../helpers/start-hub.ts';
import { temporaryFolder } from '../helpers/temp-folder.ts';
import { until } from '../helpers/until.ts';
import { forgetUploads, PNG, sha256, startVideoHub, type VideoHub } from '../helpers/video.ts';

let hub: VideoHub;
const directory = temporaryFolder();
const content = randomBytes(700_000);
const file = join(directory, 'a "video".mp4');
beforeAll(async () => {
  hub = await startVideoHub();
  writeFileSync(file, content);
});
beforeEach(() => forgetUploads(hub));

/** Runs the command; `output` grows while it runs. */
function run(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(root, 'dist/cli/hub.mjs'), ...args], {
    env: { PATH: process.env.PATH, HUB_URL: hub.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number, ...output }));
  return { output, ended, kill: () => child.kill('SIGINT') };
}

describe('hub video upload', () => {
  test('uploads a file with its fields, shows how far it is, and prints the address of the video', async () => {
    const image = join(directory, 'image.png');
    writeFileSync(image, PNG);
    const args = ['--target', 'main', '--title', 'Ein Film 🎬', '--privacy', 'private', '--tags', 'a,b'];
    const more = ['--category', '27', '--thumbnail', image, '--notify-subscribers', 'false'];
    const { code, stdout, stderr } = await run(['video', 'upload', file, ...args, ...more]).ended;
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/Sending to the hub 100 %\n[\s\S]*Publishing 100 %\n/),
    ]);
    const [made] = hub.platform.videos;
    expect(stdout).toBe(`https://www.youtube.com/watch?v=${made?.id}\n`);
    expect(made).toMatchObject({ sha256: sha256(content), notifySubscribers: 'false' });
    expect(made?.metadata).toEqual({
      snippet: { title: 'Ein Film 🎬', description: '', categoryId: '27', tags: ['a', 'b'] },
      status: { privacyStatus: 'private' },
    });
    expect(made?.thumbnail?.bytes.equals(PNG)).toBe(true);
  });

  test('ends with 1 and the hub’s hint when the upload fails, before or after it was received', async () => {
    const upload = ['video', 'upload', file, '--title', 'T'];
    const unknown = await run([...upload, '--target', 'nobody']).ended;
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringMatching(/404 account_not_found\)\nSend x-target/),
    ]);
    hub.platform.faults.push({ on: 'open', do: { answer: 403, reason: 'quotaExceeded' } });
    const failed = await run([...upload, '--target', 'main']).ended;
    expect([failed.code, failed.stderr]).toEqual([
      1,
      expect.stringMatching(/quotaExceeded \(quotaExceeded\)\n.*midnight/),
    ]);
    const bad = await run([...upload, '--target', 'main', '--category', '99']).ended;
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringMatching(/categoryId must be one of/)]);
  });

  test('ends with 2 and the usage when it is misspelt', async () => {
    for (const args of [
      ['video', 'upload'],
      ['video', 'upload', file, '--title', 'x'],
      ['video', 'upload', file, '--titel', 'x'],
    ]) {
      const { code, stderr } = await run(args).ended;
      expect([code, stderr]).toEqual([2, expect.stringMatching(/hub video upload FILE/)]);
    }
    const nothing = await run(['video']).ended;
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringMatching(/^Usage:/)]);
    const help = await run(['--help']).ended;
    expect([help.code, help.stdout]).toEqual([0, expect.stringMatching(/^Usage:/)]);
    const missing = await run(['video', 'upload', '/no/such/file', '--title', 'x', '--target', 'main']).ended;
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/\/no\/such\/file cannot be read/),
    ]);
  });

  test('goes on over a restart of the hub, without a second video', async () => {
    const own = await startVideoHub({ platform: hub.platform, config: { hub: { port: 0 } } });
    hub.platform.faults.push({ on: 'chunk', do: 'silence' });
    const port = Number(new URL(own.url).port);
    const command = run(['video', 'upload', file, '--target', 'main', '--title', 'T', '--url', own.url]);
    await until('the publishing', () => command.output.stderr.includes('Publishing'));
    await own.stop('SIGKILL');
    await until('the loss', () => command.output.stderr.includes('trying again'));
    await startVideoHub({ platform: hub.platform, cwd: own.cwd, env: { HUB_PORT: String(port) } });
    const { code } = await command.ended;
    expect(code).toBe(0);
    expect(hub.platform.videos.map((one) => one.sha256)).toEqual([sha256(content)]);
  });
});

describe('hub video login', () => {
  test('prints the address, waits for the callback and says that it came', async () => {
    await hub.ask('/videohost/auth/logout', { method: 'POST' });
    const command = run(['video', 'login', 'main']);
    await until('the address', () => /https?:\S+\/auth\?\S+/.test(command.output.stdout));
    const authUrl = /https?:\S+\/auth\?\S+/.exec(command.output.stdout)?.[0] ?? '';
    const { location = '' } = (await send(authUrl)).headers;
    const { pathname, search } = new URL(location);
    expect((await send(hub.url + pathname + search)).status).toBe(200);
    const { code, stdout } = await command.ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/The account main is authorized\.\n$/)]);
    const again = await run(['video', 'login', 'main']).ended;
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/authorized already.*--again/)]);
  });

  test('asks for the captions scope on demand, and stops when it is told to', async () => {
    const command = run(['video', 'login', 'main', '--again', '--captions']);
    await until('the address', () => command.output.stdout.includes('youtube.force-ssl'));
    command.kill();
    expect((await command.ended).code).toBe(1);
  });
});
