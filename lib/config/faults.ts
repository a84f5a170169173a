import { formatPath, type Path } from './path.ts';

/** One thing that is wrong: where and what. */
export interface Fault {
  readonly path: Path;
  readonly what: string;
  /** Line of the file; undefined: that of the path; null: not of the file at all. */
  readonly line: number | null | undefined;
}

/** The configuration cannot be used. Every fault is known by the time this is thrown. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** One text a fault, e.g. `hub.port must be a number (config.yaml:3)`. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.map((fault) => `Configuration validation failed: ${fault}`).join('\n'));
    this.faults = faults;
  }

  /** What goes to the standard error, one plain line a fault (spec §2.1, contract §2). */
  get lines(): string[] {
    return this.message.split('\n');
  }
}

/** Collects faults and warnings in the order of the file; a path that failed once is not reported again. */
export interface Report {
  fault(path: Path, what: string, line?: number | null): void;
  warn(path: Path, what: string, line?: number | null): void;
  /** Whether this path, or one that holds it, has a fault that makes its value useless. */
  spoiled(path: Path): boolean;
  /** Marks everything reported so far as useless for later checks. */
  seal(): void;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/** Starts an empty report. */
export function createReport(): Report {
  const faults: Fault[] = [];
  const warnings: Fault[] = [];
  let sealed = new Set<string>();

  function spoiled(path: Path): boolean {
    return path.some((_part, index) => sealed.has(formatPath(path.slice(0, path.length - index))));
  }

  return {
    faults,
    warnings,
    spoiled,
    seal: () => {
      sealed = new Set(faults.map((fault) => formatPath(fault.path)));
    },
    fault(path, what, line) {
      if (!spoiled(path)) faults.push({ path, what, line });
    },
    warn(path, what, line) {
      if (!spoiled(path)) warnings.push({ path, what, line });
    },
  };
}

/** Renders faults in the order of the file, each once, as `<path> <what> (<file>:<line>)`. */
export function renderFaults(
  faults: readonly Fault[],
  file: string,
  lineOf: (path: Path) => number | undefined,
): string[] {
  const placed = faults.map((fault) => ({
    ...fault,
    line: fault.line === undefined ? lineOf(fault.path) : fault.line,
  }));
  placed.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return [
    ...new Set(
      placed.map(({ path, what, line }) => {
        const subject = path.length === 0 ? file : formatPath(path);
        return `${subject} ${what}${typeof line === 'number' ? ` (${file}:${line})` : ''}`;
      }),
    ),
  ];
}
