import type { ServerTrace } from './transports/transport.ts';

const MAX_LINES = 50;
const MAX_LINE = 1000;

/** Keeps the last lines of a server's stderr and its last exit over all of its connections. */
export function createServerTrace(): ServerTrace {
  const lines: string[] = [];
  return {
    exit: null,
    stderr(line) {
      const text = line.trimEnd();
      if (text === '') return;
      lines.push(text.slice(0, MAX_LINE));
      if (lines.length > MAX_LINES) lines.shift();
    },
    stderrTail: () => [...lines],
  };
}
