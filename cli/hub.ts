#!/usr/bin/env node
/** `npx hub …`: the command-line helper. It speaks to a running hub. */
import { readEnvironment } from '../lib/config/environment.ts';
import { CommandFault } from './video/command-fault.ts';
import { createHubClient } from './video/hub-client.ts';
import { LOGIN_USAGE, login } from './video/login.ts';
import { UPLOAD_USAGE, upload } from './video/upload.ts';

const USAGE = `Usage:
${UPLOAD_USAGE}
${LOGIN_USAGE}

Both: --url ADDRESS of the hub (HUB_URL, else this machine's port HUB_PORT or 3000). Where main authentication is
on, HUB_TOKEN holds the bearer token.`;

const commands: Record<string, typeof upload> = { upload, login };

async function main([area, name = '', ...args]: string[]): Promise<number> {
  const command = area === 'video' && Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined || args.includes('--help')) {
    const isAsked = area === undefined || [area, name, ...args].some((word) => /^(--)?help$/.test(word));
    (isAsked ? console.log : console.error)(USAGE);
    return isAsked ? 0 : 2;
  }
  const { HUB_URL, HUB_TOKEN } = process.env;
  const { hubPort = 3000 } = readEnvironment(process.env);
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new CommandFault('Stopped')));
  try {
    await command(args, {
      client: (url) => createHubClient(url ?? HUB_URL ?? `http://127.0.0.1:${hubPort}`, HUB_TOKEN),
      out: process.stdout,
      terminal: process.stderr,
      signal: stop.signal,
    });
    return 0;
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    console.error(error.message);
    return error.isUsage ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
