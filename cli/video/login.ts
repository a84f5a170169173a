import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CommandContext } from './command.ts';
import { CommandFault } from './command-fault.ts';
import type { HubClient } from './hub-client.ts';

export const LOGIN_USAGE = `  hub video login ID [--again] [--captions] [--no-open]
      --again: also where the account is authorized already; its present grant is revoked first
      --captions: asks for the right to upload captions too`;

const POLL_MS = 1000;
/** The hub forgets an authorization after ten minutes. */
const PATIENCE_MS = 600_000;

/** Authorizes an account: prints the address to open, opens it where it can, and waits for the callback. */
export async function login(args: string[], context: CommandContext): Promise<void> {
  const { target, values } = read(args);
  const client = context.client(values.url);
  const { signal, out, terminal } = context;
  const headers = { 'x-target': target };

  if (await isAuthorized(client, target, signal)) {
    if (!values.again) {
      out.write(
        `The account ${target} is authorized already. To do it anew: hub video login ${target} --again\n`,
      );
      return;
    }
    await client.call({ method: 'POST', path: '/videohost/auth/logout', headers, signal });
  }
  const path = `/videohost/auth/idp${values.captions ? '?captions=true' : ''}`;
  const { authUrl } = await client.call<{ authUrl: string }>({ method: 'GET', path, headers, signal });
  out.write(`Open this address in a browser and grant access:\n\n${authUrl}\n\n`);
  if (!values['no-open'] && terminal.isTTY) openInBrowser(authUrl);

  terminal.write('Waiting for the callback…\n');
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isAuthorized(client, target, signal))) {
    if (performance.now() > deadline) {
      throw new CommandFault(
        'Nobody granted access within 10 minutes. Run the command again for a new address.',
      );
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
  out.write(`The account ${target} is authorized.\n`);
}

function read(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        again: { type: 'boolean', default: false },
        captions: { type: 'boolean', default: false },
        'no-open': { type: 'boolean', default: false },
      },
    });
    const [target] = positionals;
    if (target === undefined || positionals.length > 1) throw new Error('Name one account');
    return { target, values };
  } catch (error) {
    throw new CommandFault(`${(error as Error).message}\n\n${LOGIN_USAGE}`, { isUsage: true });
  }
}

async function isAuthorized(client: HubClient, target: string, signal: AbortSignal): Promise<boolean> {
  const headers = { 'x-target': target };
  const status = await client.call<{ authenticated: boolean }>({
    method: 'GET',
    path: '/videohost/auth/status',
    headers,
    signal,
  });
  return status.authenticated;
}

/** Without a browser the printed address does. */
function openInBrowser(url: string): void {
  const commands: Partial<Record<NodeJS.Platform, [string, string[]]>> = {
    darwin: ['open', [url]],
    win32: ['rundll32', ['url.dll,FileProtocolHandler', url]],
  };
  const [command, args] = commands[process.platform] ?? ['xdg-open', [url]];
  const opener = spawn(command, args, { stdio: 'ignore', detached: true });
  opener.on('error', () => {});
  opener.unref();
}
