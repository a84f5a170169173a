import { randomBytes, randomUUID } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CommandContext } from './command.ts';
import { CommandFault } from './command-fault.ts';
import { type HubClient, HubUnreachable } from './hub-client.ts';
import { createProgress, type Progress } from './progress.ts';

export const UPLOAD_USAGE = `  hub video upload FILE --target ID --title TITLE
      [--description TEXT] [--tags a,b] [--category ID] [--privacy public|unlisted|private]
      [--thumbnail FILE] [--publish-at TIME] [--made-for-kids true|false] [--notify-subscribers true|false]
      [--language TAG] [--playlist ID] [--captions FILE] [--captions-language TAG]`;

/** Options that become text fields of the form. */
const FIELDS = {
  title: 'title',
  description: 'description',
  tags: 'tags',
  category: 'categoryId',
  privacy: 'privacyStatus',
  'publish-at': 'publishAt',
  'made-for-kids': 'madeForKids',
  'notify-subscribers': 'notifySubscribers',
  language: 'defaultLanguage',
  playlist: 'playlistId',
  'captions-language': 'captionsLanguage',
} as const;
/** Options that become files of it. */
const FILES = ['thumbnail', 'captions'] as const;

const ATTEMPTS = 5;
const RETRY_AFTER_MS = 2000;
const POLL_MS = 300;

interface UploadResult {
  url: string;
  thumbnailUploaded: boolean;
  thumbnailError?: { message: string };
  playlistError?: { message: string };
  captionsError?: { message: string };
  warnings?: string[];
}
interface UploadView {
  state: string;
  bytesAcknowledged: number;
  bytesTotal: number | null;
  result?: UploadResult;
  error?: { message: string; code: string; hint?: string };
}

/**
 * Uploads a file through a running hub and prints the address of the video. The hub takes the file, answers, and is
 * then asked how far it is; one Idempotency-Key over all tries keeps a lost connection from making a second video.
 */
export async function upload(args: string[], context: CommandContext): Promise<void> {
  const { values, file } = read(args);
  const client = context.client(values.url);
  const progress = createProgress(context.terminal);
  const key = randomUUID();
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await uploadOnce(client, file, values, key, progress, context.signal);
        progress.end();
        report(result, context);
        return;
      } catch (error) {
        if (!(error instanceof HubUnreachable) || attempt === ATTEMPTS) throw error;
        progress.end();
        context.terminal.write(`${error.message}; trying again\n`);
        await sleep(RETRY_AFTER_MS, undefined, { signal: context.signal }).catch(() => {});
        context.signal.throwIfAborted();
      }
    }
  } finally {
    progress.end();
  }
}

type Values = Partial<Record<string, string>>;

function read(args: string[]): { values: Values; file: string } {
  const names = ['target', 'url', ...Object.keys(FIELDS), ...FILES];
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
    });
    const [file] = positionals;
    if (file === undefined || positionals.length > 1) throw new Error('Name one file to upload');
    for (const name of ['target', 'title']) {
      if (values[name] === undefined) throw new Error(`--${name} is missing`);
    }
    return { values: values as Values, file };
  } catch (error) {
    throw new CommandFault(`${(error as Error).message}\n\n${UPLOAD_USAGE}`, { isUsage: true });
  }
}

async function uploadOnce(
  client: HubClient,
  file: string,
  values: Values,
  key: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<UploadResult> {
  const form = formOf(file, values);
  let sent = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of form.bytes()) {
      yield chunk;
      sent += chunk.length;
      progress.show('Sending to the hub', Math.min(sent, form.length), form.length);
    }
  }
  const target = values.target as string;
  const begun = await client.call<{ statusUrl?: string } & Partial<UploadResult>>({
    method: 'POST',
    path: '/videohost/upload',
    headers: {
      'x-target': target,
      'content-type': `multipart/form-data; boundary=${form.boundary}`,
      'content-length': String(form.length),
      'idempotency-key': key,
      prefer: 'respond-async',
    },
    body: counted(),
    signal,
  });
  // A hub that runs as a function answers with the result at once.
  if (begun.statusUrl === undefined) return begun as UploadResult;
  return follow(client, begun.statusUrl, progress, signal);
}

async function follow(
  client: HubClient,
  path: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<UploadResult> {
  for (;;) {
    const view = await client.call<UploadView>({ method: 'GET', path, signal });
    progress.show('Publishing', view.bytesAcknowledged, view.bytesTotal ?? 0);
    if (view.result !== undefined) return view.result;
    if (view.error !== undefined) {
      const { message, code, hint } = view.error;
      throw new CommandFault([`${message} (${code})`, hint].filter(Boolean).join('\n'));
    }
    if (view.state === 'cancelled') throw new CommandFault('The upload was cancelled');
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}

function report(result: UploadResult, { out, terminal }: CommandContext): void {
  out.write(`${result.url}\n`);
  for (const [what, error] of [
    ['thumbnail', result.thumbnailError],
    ['playlist', result.playlistError],
    ['captions', result.captionsError],
  ] as const) {
    if (error !== undefined) terminal.write(`The ${what} could not be set: ${error.message}\n`);
  }
  for (const warning of result.warnings ?? []) terminal.write(`${warning}\n`);
}

/** A form of known length; its text fields come first, so that the hub can judge them before the video. */
function formOf(
  file: string,
  values: Values,
): { boundary: string; length: number; bytes(): AsyncGenerator<Buffer> } {
  const boundary = `hub-${randomBytes(16).toString('hex')}`;
  const parts: { head: Buffer; path?: string; length: number }[] = [];
  for (const [option, field] of Object.entries(FIELDS)) {
    const value = values[option];
    if (value === undefined) continue;
    const head = Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}`,
    );
    parts.push({ head, length: 0 });
  }
  const files = [
    ...FILES.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
    ['video', file],
  ];
  for (const [name = '', path = ''] of files) {
    const filename = basename(path).replace(/["\\\r\n]/g, '_');
    const head = Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
    );
    parts.push({ head, path, length: sizeOf(path) });
  }
  const end = Buffer.from(`--${boundary}--\r\n`);
  const between = Buffer.from('\r\n');
  return {
    boundary,
    length: parts.reduce((sum, { head, length }) => sum + head.length + length + between.length, end.length),
    async *bytes() {
      for (const { head, path, length } of parts) {
        yield head;
        // The length was promised: what a growing file gained since then stays out.
        if (path !== undefined && length > 0)
          yield* createReadStream(path, { end: length - 1, highWaterMark: 262_144 });
        yield between;
      }
      yield end;
    },
  };
}

function sizeOf(path: string): number {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return stat.size;
    throw new Error('it is not a file');
  } catch (error) {
    throw new CommandFault(`${path} cannot be read: ${(error as Error).message}`);
  }
}
