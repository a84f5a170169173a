import { type ChildProcess, spawn } from 'node:child_process';
import { freePort } from './free-port.ts';
import { stopAfterFile, temporaryFolder } from './temp-folder.ts';

/** A real `redis-server` on a free port of loopback, without persistence. */
export interface RedisServer {
  url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  start(): Promise<void>;
}

/** Starts it; ended with the test file at the latest. */
export async function startRedis(): Promise<RedisServer> {
  const directory = temporaryFolder();
  const port = await freePort();
  let child: ChildProcess | undefined;

  function start(): Promise<void> {
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      directory,
    ];
    const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    child = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
      server.stdout.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('Ready to accept connections')) resolve();
      });
    });
  }

  async function kill(): Promise<void> {
    const server = child;
    child = undefined;
    if (server === undefined || server.exitCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
  }

  stopAfterFile(kill);
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
  };
}
