import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { oversized, ToolFailure } from '../failure.ts';
import { findId } from '../rpc-answer.ts';
import { createLineSplitter } from './line-splitter.ts';
import type { PidFile } from './pid-file.ts';
import { endGroup } from './process-group.ts';
import { resolveCommand } from './resolve-command.ts';
import type { ServerTrace, Transport, TransportFactory } from './transport.ts';

export interface StdioOptions {
  command: string;
  args: readonly string[];
  /** Added to the minimal environment; the hub's own variables never reach a tool server. */
  env: Readonly<Record<string, string>>;
  /** Longest line in bytes. A longer one fails the call that it answers, not the connection. */
  maxLineBytes: number;
  /** Between TERM and KILL. */
  killAfterMs: number;
  pidFile: PidFile;
  trace: ServerTrace;
}

/** Bytes that may wait for a server that does not read its input; more than any set of calls in its limits. */
const MAX_UNREAD_INPUT = 256 * 1024 * 1024;
/** How long output that was written before the exit may still arrive: a grandchild can hold the pipe open. */
const DRAIN_MS = 50;

/**
 * MCP over the standard streams of a child process. Our own supervision, because what npx or uvx start lives
 * below the child: the child leads a process group, and the group is what is ended.
 */
export function stdioTransport(options: StdioOptions): TransportFactory {
  const { trace } = options;
  const base = getDefaultEnvironment();
  const environment = { ...base, ...options.env };
  let program: string | undefined;

  return (events) => {
    let child: ChildProcessWithoutNullStreams | undefined;
    let ended = false;
    let outbox: string[] = [];

    const output = createLineSplitter({
      maxBytes: options.maxLineBytes,
      line: (text) => {
        // Servers that print to stdout by mistake are common, and harmless as long as it is not JSON-RPC.
        if (/^\s*[{[]/.test(text)) events.message(text);
        else if (text.trim() !== '') trace.stderr(`[stdout] ${text}`);
      },
      dropped: (head, tail) => {
        const id = findId(head, tail);
        if (id !== undefined) events.requestFailed(id, oversized(options.maxLineBytes));
        events.note(`a line of more than ${options.maxLineBytes} bytes was dropped`);
      },
    });
    const errors = createLineSplitter({
      maxBytes: 8192,
      line: (text) => trace.stderr(text),
      dropped: (head) => trace.stderr(head),
    });

    function gone(failure: ToolFailure): void {
      if (ended) return;
      ended = true;
      events.closed(failure);
    }

    async function open(signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      program ??= resolveCommand(options.command, base.PATH ?? '');
      const started = spawn(program, options.args, {
        env: environment,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        windowsHide: true,
      });
      child = started;
      started.stdout.on('data', (chunk: Buffer) => output.push(chunk));
      started.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
      // A broken pipe is told by the exit; without listeners it would end the companion.
      for (const stream of [started.stdin, started.stdout, started.stderr]) stream.on('error', () => {});
      await new Promise<void>((resolve, reject) => {
        started.once('spawn', resolve);
        // Stays: a kill that fails is told this way too, and without a listener would end the companion.
        started.on('error', (cause) => reject(notStarted(cause)));
      });
      if (started.pid !== undefined) options.pidFile.add(started.pid);
      started.once('exit', (code, exitSignal) => exited(started, code, exitSignal));
    }

    function exited(
      process_: ChildProcessWithoutNullStreams,
      code: number | null,
      signal: NodeJS.Signals | null,
    ): void {
      trace.exit = { code, signal };
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      const failure = new ToolFailure('transport', 'exited', `The tool server's process ended ${how}`, {
        exit: trace.exit,
      });
      // Whatever is in the pipe by then is read before the immediate runs, however late this process is.
      const timer = setTimeout(setImmediate, DRAIN_MS, drained);
      process_.stdout.once('close', drained);
      if (!ended) void endAll(process_);

      function drained(): void {
        clearTimeout(timer);
        gone(failure);
        destroyStreams(process_);
      }
    }

    async function endAll(process_: ChildProcessWithoutNullStreams): Promise<void> {
      if (process_.pid === undefined) return;
      await endGroup(process_.pid, options.killAfterMs);
      options.pidFile.remove(process_.pid);
    }

    function flush(): void {
      const text = outbox.join('');
      outbox = [];
      if (ended || child === undefined) return;
      child.stdin.write(text);
    }

    const transport: Transport = {
      open,
      send(text, id) {
        if (child === undefined || child.exitCode !== null || child.signalCode !== null || ended) {
          if (id !== undefined) events.requestFailed(id, notRunning());
          return;
        }
        if (child.stdin.writableLength > MAX_UNREAD_INPUT) {
          if (id !== undefined) events.requestFailed(id, notReading());
          return;
        }
        // Calls that came in one turn of the event loop leave in one write: a system call each would cost more
        // than all the rest. A lone call does not wait for it, because immediates run right after what was read.
        if (outbox.push(`${text}\n`) === 1) setImmediate(flush);
      },
      release() {},
      negotiated() {},
      facts: () => (child?.pid === undefined || ended ? {} : { pid: child.pid }),
      async close() {
        ended = true;
        if (child === undefined) return;
        child.stdin.end();
        await endAll(child);
        destroyStreams(child);
      },
    };
    return transport;
  };
}

function destroyStreams({ stdin, stdout, stderr }: ChildProcessWithoutNullStreams): void {
  for (const stream of [stdin, stdout, stderr]) stream.destroy();
}

function notStarted(cause: Error): ToolFailure {
  const missing = 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'EACCES');
  return new ToolFailure(
    'transport',
    'spawn_failed',
    `The tool server could not be started: ${cause.message}`,
    {
      operator: missing,
      cause,
    },
  );
}

function notRunning(): ToolFailure {
  return new ToolFailure('transport', 'not_running', 'The tool server is not running', { neverSent: true });
}

function notReading(): ToolFailure {
  return new ToolFailure('transport', 'not_reading', 'The tool server does not read its input', {
    neverSent: true,
  });
}
