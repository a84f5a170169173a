/** Starts and ends the processes of a run. Whatever is started here is ended by its own process id. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { treeOf } from './proc.mjs';

/** How to end each process of this run, in the order of their start. */
const stops = [];

/** Has `stop` called when the run ends, however it ends. */
export function atEnd(stop) {
  stops.push(stop);
}

let stopping;

/** Ends everything that this run has started, the last one first. Whoever calls it again waits for the same end. */
export function stopAll() {
  stopping ??= (async () => {
    for (const stop of stops.reverse()) await stop();
  })();
  return stopping;
}

/** A loopback port that is free now, for programs that cannot choose one themselves. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function killIfAlive(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself, which is what was wanted.
  }
}

/**
 * Starts a program with its output in a file, so that no reader of ours costs processor time, and waits until that
 * output matches `ready`.
 * @returns {Promise<{name: string, pid: number, match: RegExpMatchArray, output(): string, tree(): number[]}>}
 * @throws when the program ends, or is not ready within `timeoutMs`; the message carries the end of its output
 */
export async function startProgram({ name, command, args, cwd, env, outputFile, ready, timeoutMs = 60_000 }) {
  mkdirSync(dirname(outputFile), { recursive: true });
  const file = openSync(outputFile, 'w');
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', file, file] });
  closeSync(file);
  let end;
  const ended = new Promise((resolve) => {
    const noteEnd = (how) => {
      end = how;
      resolve();
    };
    child.once('error', (error) => noteEnd(error.message));
    child.once('exit', (code, signal) => noteEnd(`ended with ${signal ?? code}`));
  });
  const output = () => readFileSync(outputFile, 'utf8');

  async function stop() {
    const members = child.pid ? treeOf(child.pid) : [];
    if (end === undefined) child.kill('SIGTERM');
    await Promise.race([ended, sleep(15_000, undefined, { ref: false })]);
    members.forEach(killIfAlive);
  }

  atEnd(stop);
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const match = output().match(ready);
    if (match) return { name, pid: child.pid, match, output, tree: () => treeOf(child.pid) };
    const why = end ?? (Date.now() > deadline ? `not ready after ${timeoutMs} ms` : undefined);
    if (why !== undefined) throw new Error(`${name} did not start (${why}):\n${output().slice(-2000)}`);
    await sleep(25);
  }
}
