import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll } from '@jest/globals';
import { ACCOUNT, type FakeVideoPlatform, openFakeVideoPlatform } from './fake-video-platform.ts';
import { type Answer, type SendOptions, send } from './http.ts';
import type { HubOptions } from './hub-process.ts';
import { type HubProcess, startHub } from './start-hub.ts';
import { temporaryFolder } from './temp-folder.ts';

export { ACCOUNT, type FakeVideoPlatform } from './fake-video-platform.ts';
export { SCOPES } from './fake-video-platform-identity.ts';

const platforms = new Set<FakeVideoPlatform>();

afterAll(async () => {
  for (const platform of platforms) await platform.close();
});

/** Starts a platform; ended with the test file. */
export async function startPlatform(): Promise<FakeVideoPlatform> {
  const platform = await openFakeVideoPlatform();
  platforms.add(platform);
  return platform;
}

export interface VideoHub extends HubProcess {
  platform: FakeVideoPlatform;
  /** Sends with `x-target: main`. */
  ask(path: string, options?: SendOptions): Promise<Answer>;
  /** Sends a form to the upload route. */
  upload(parts: readonly Part[], headers?: Record<string, string>): Promise<Answer>;
  /** Path of the account's token file. */
  tokenFile: string;
  /** Every file that is in the spool now, with its path in there. */
  spooled(): string[];
  /** The same disk, another process. */
  restart(signal?: NodeJS.Signals): Promise<VideoHub>;
}

export interface VideoHubOptions {
  platform?: FakeVideoPlatform;
  videohost?: object;
  config?: object;
  /** Without it the account is authorized already. */
  isUnauthorized?: boolean;
  cwd?: string;
  command?: HubOptions['command'];
  env?: Record<string, string>;
}

/** A hub with one account on a fake platform. */
export async function startVideoHub(options: VideoHubOptions = {}): Promise<VideoHub> {
  const platform = options.platform ?? (await startPlatform());
  const cwd = options.cwd ?? temporaryFolder();
  const tokenFile = join(cwd, 'tokens', `videohost_token_${ACCOUNT.id}.json`);
  if (!options.isUnauthorized && options.cwd === undefined) authorize(platform, tokenFile);
  const hub = await startHub({
    cwd,
    command: options.command ?? 'hub',
    ...(options.env !== undefined && { env: options.env }),
    config: { videohost: platform.videohost(options.videohost), ...options.config },
  });
  return {
    ...hub,
    platform,
    tokenFile,
    ask: (path, { headers, ...rest } = {}) =>
      send(hub.url + path, { ...rest, headers: { 'x-target': ACCOUNT.id, ...headers } }),
    upload: (parts, headers = {}) => sendForm(hub.url, parts, headers),
    spooled: () => filesIn(join(cwd, 'spool')),
    async restart(signal = 'SIGTERM') {
      await hub.stop(signal);
      return startVideoHub({ ...options, platform, cwd });
    },
  };
}

/** Puts tokens of the platform into the account's file. */
export function authorize(
  platform: FakeVideoPlatform,
  file: string,
  issue: { expiresIn?: number; scope?: string } = {},
): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, JSON.stringify(platform.identity.issue(issue)), { mode: 0o600 });
}

/** Puts the account's tokens back and makes the platform forget what was asked of it: the next test begins afresh. */
export function forgetUploads({ platform, tokenFile }: VideoHub): void {
  authorize(platform, tokenFile);
  platform.videos.length = 0;
  platform.faults.length = 0;
  platform.requests.length = 0;
}

export function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  } catch {
    return [];
  }
}

/** A part of a form: text, or a file. */
export type Part =
  | [name: string, value: string]
  | { name: string; content: Buffer | Readable; filename?: string; type?: string };

export const title: Part = ['title', 'A title'];

export function video(content: Buffer | Readable = randomBytes(1000), type = 'video/mp4'): Part {
  return { name: 'video', content, filename: 'video.mp4', type };
}

export const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(200)]);

export function thumbnail(content: Buffer = PNG, filename = 'image.png', type = 'image/png'): Part {
  return { name: 'thumbnail', content, filename, type };
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export const BOUNDARY = '----hub-test-boundary-7MA4YWxkTrZu0gW';

/** The bytes of a form (RFC 7578), as they flow. */
export async function* formBytes(parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Array.isArray(part)) {
      const [name, value] = part;
      yield Buffer.from(
        `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      );
      continue;
    }
    const { name, content, filename, type } = part;
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\ncontent-type: ${type ?? 'application/octet-stream'}\r\n\r\n`;
    yield Buffer.from(head);
    if (Buffer.isBuffer(content)) yield content;
    else for await (const chunk of content) yield chunk as Buffer;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from(`--${BOUNDARY}--\r\n`);
}

/** Sends a form to the upload route: whole and with its length, or flowing where a part does. */
export async function sendForm(
  url: string,
  parts: readonly Part[],
  headers: Record<string, string> = {},
): Promise<Answer> {
  const all = {
    'x-target': ACCOUNT.id,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    ...headers,
  };
  const flows = parts.some((part) => !Array.isArray(part) && !Buffer.isBuffer(part.content));
  if (!flows) {
    const chunks: Buffer[] = [];
    for await (const chunk of formBytes(parts)) chunks.push(chunk);
    return send(`${url}/videohost/upload`, { method: 'POST', body: Buffer.concat(chunks), headers: all });
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/videohost/upload`, { method: 'POST', agent: false, headers: all });
    request.once('response', async (message) => {
      const chunks: Buffer[] = [];
      for await (const chunk of message) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const text = body.toString('utf8');
      resolve({
        status: message.statusCode ?? 0,
        headers: message.headers,
        rawHeaders: message.rawHeaders,
        body,
        text,
        json: () => JSON.parse(text),
      });
    });
    request.once('error', reject);
    // A hub that refuses early may close before everything is sent; its answer counts.
    pipeline(Readable.from(formBytes(parts)), request).catch(() => {});
  });
}

/** Tokens as they stand in the account's file. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into what they test
export function tokensIn(file: string): any {
  return JSON.parse(readFileSync(file, 'utf8'));
}
