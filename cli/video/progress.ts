import type { CommandContext } from './command.ts';

/** Shows how far something is: a bar on a terminal, a line for every tenth elsewhere. */
export interface Progress {
  show(label: string, done: number, total: number): void;
  /** Leaves the line as it is. */
  end(): void;
}

const WIDTH = 30;
/** Terminals are not written to more often than this, in ms. */
const EVERY_MS = 100;

export function createProgress(
  terminal: CommandContext['terminal'],
  now = () => performance.now(),
): Progress {
  let last = { label: '', at: 0, tenth: -1, done: 0 };
  let begun = now();
  let isOpen = false;

  return {
    show(label, done, total) {
      const share = total === 0 ? 1 : Math.min(1, done / total);
      if (label !== last.label) begun = now();
      const tenth = Math.floor(share * 10);
      if (!terminal.isTTY) {
        if (label !== last.label || tenth !== last.tenth) terminal.write(`${label} ${tenth * 10} %\n`);
      } else if (label !== last.label || share === 1 || now() - last.at >= EVERY_MS) {
        if (isOpen && label !== last.label) terminal.write('\n');
        const bar = '█'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '░');
        const seconds = Math.max(0.001, (now() - begun) / 1000);
        const text = `${label.padEnd(18)} ${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${size(done)} of ${size(total)}  ${size(done / seconds)}/s`;
        terminal.write(`\r${text.slice(0, (terminal.columns ?? 120) - 1)}\u001b[K`);
        isOpen = true;
      } else return;
      last = { label, at: now(), tenth, done };
    },
    end() {
      if (isOpen) terminal.write('\n');
      isOpen = false;
    },
  };
}

function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value.toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`;
}
