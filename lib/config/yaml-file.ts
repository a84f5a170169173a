import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from 'yaml';
import type { Report } from './faults.ts';
import { formatPath, isMapping, type Path, setKey } from './path.ts';
import { substitute } from './substitute.ts';
import { describeProblems } from './yaml-problems.ts';

/** A file past this is a mistake (contract §2). */
const MAX_FILE_BYTES = 1_048_576;
/** Values that aliases may expand to; past it the file is an alias bomb. */
const MAX_ALIASED_VALUES = 10_000;
const MAX_DEPTH = 100;

/** What was read: the parsed, substituted value and where everything came from. */
export interface YamlFile {
  /** Name for messages, e.g. `config.yaml`. */
  readonly name: string;
  readonly value: Record<string, unknown>;
  /** Line of a value, or of the nearest thing around it. */
  lineOf(path: Path): number | undefined;
  /** Variables whose values went into the scalar at this path; undefined where nothing was substituted. */
  variablesAt(path: Path): readonly string[] | undefined;
}

/** Reads a configuration file. Faults go to the report; what could be read comes back. */
export function readYamlFile(path: string, env: NodeJS.ProcessEnv, report: Report): YamlFile {
  const name = basename(path);
  const text = readText(path, report);
  return text === undefined ? emptyFile(name) : parseYaml(name, text, env, report);
}

function emptyFile(name: string): YamlFile {
  return { name, value: {}, lineOf: () => undefined, variablesAt: () => undefined };
}

function readText(path: string, report: Report): string | undefined {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) {
      report.fault([], `is a directory, not a configuration file: ${path}`);
      return undefined;
    }
    if (stat.size > MAX_FILE_BYTES) {
      report.fault([], 'is larger than 1 MB');
      return undefined;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      report.fault([], `does not exist: no configuration file at ${path}`);
    else if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') report.fault([], 'is not UTF-8 text');
    else report.fault([], `cannot be read: ${path} (${code ?? 'unknown error'})`);
    return undefined;
  }
}

/** Parses and substitutes. The parser's own messages quote the file, which may hold secrets, so none is passed on. */
export function parseYaml(name: string, text: string, env: NodeJS.ProcessEnv, report: Report): YamlFile {
  const lines = new LineCounter();
  const document = parseSafely(text, lines, report);
  if (document === undefined) return emptyFile(name);

  const positions = new Map<string, number>();
  const substituted = new Map<string, readonly string[]>();
  const anchors = new Map<string, Node>();
  let aliased = 0;
  let tooMany = false;

  function place(path: Path, node: Node | null | undefined): void {
    const offset = node?.range?.[0];
    const key = formatPath(path);
    if (offset !== undefined && !positions.has(key)) positions.set(key, lines.linePos(offset).line);
  }

  function scalar(value: unknown, path: Path): unknown {
    if (typeof value !== 'string' || !value.includes('${')) return value;
    const result = substitute(value, env);
    for (const fault of result.faults) report.fault(path, fault);
    substituted.set(formatPath(path), result.variables);
    return result.text;
  }

  function mapping(items: readonly Pair[], path: Path, depth: number, inAlias: boolean): unknown {
    const value: Record<string, unknown> = {};
    const merged: Record<string, unknown>[] = [];
    for (const pair of items) {
      const keyNode = pair.key as Node | null;
      if (!isScalar(keyNode)) {
        report.fault(path, 'has a key that is not plain text', lineAt(keyNode));
        continue;
      }
      const key = String(keyNode.value ?? '');
      const here = [...path, key];
      if (key === '<<') {
        const sources = [plain(pair.value as Node | null, path, depth + 1, true)].flat();
        if (!sources.every(isMapping)) report.fault(here, 'must refer to a mapping', lineAt(keyNode));
        merged.push(...sources.filter(isMapping));
        continue;
      }
      if (Object.hasOwn(value, key)) {
        report.fault(here, 'is given twice', lineAt(keyNode));
        continue;
      }
      if (!inAlias) place(here, keyNode);
      setKey(value, key, plain(pair.value as Node | null, here, depth + 1, inAlias));
    }
    for (const source of merged) {
      for (const [key, below] of Object.entries(source)) {
        if (!Object.hasOwn(value, key)) setKey(value, key, below);
      }
    }
    return value;
  }

  function plain(node: Node | null | undefined, path: Path, depth: number, inAlias: boolean): unknown {
    if (inAlias && ++aliased > MAX_ALIASED_VALUES) tooMany = true;
    if (tooMany || node === null || node === undefined) return null;
    if (depth > MAX_DEPTH) {
      report.fault(path.slice(0, 1), 'is nested too deeply');
      return null;
    }
    if (isAlias(node)) {
      const source = anchors.get(node.source);
      if (source === undefined) report.fault(path, 'refers to a YAML anchor that does not exist');
      return plain(source, path, depth + 1, true);
    }
    // Document order: an alias always comes after its anchor.
    if (!inAlias && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isScalar(node)) return scalar(node.value, path);
    if (isMap(node)) return mapping(node.items, path, depth, inAlias);
    if (!isSeq(node)) return null;
    return node.items.map((item, index) => {
      const here = [...path, index];
      if (!inAlias) place(here, item as Node);
      return plain(item as Node, here, depth + 1, inAlias);
    });
  }

  function lineAt(node: Node | null | undefined): number | undefined {
    const offset = node?.range?.[0];
    return offset === undefined ? undefined : lines.linePos(offset).line;
  }

  const value = plain(document.contents, [], 0, false);
  if (tooMany) report.fault([], 'expands YAML aliases to too many values');
  else if (document.contents === null) report.fault([], 'is empty');
  else if (!isMapping(value)) report.fault([], 'must hold a mapping of keys to values', 1);
  const usable = !tooMany && isMapping(value);
  return {
    name,
    value: usable ? value : {},
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const line = positions.get(formatPath(path.slice(0, length)));
        if (line !== undefined) return line;
      }
      return usable ? 1 : undefined;
    },
    variablesAt: (path) => substituted.get(formatPath(path)),
  };
}

function parseSafely(text: string, lineCounter: LineCounter, report: Report): Document | undefined {
  let document: Document;
  try {
    document = parseDocument(text, {
      lineCounter,
      prettyErrors: false,
      uniqueKeys: false,
      logLevel: 'error',
    });
  } catch {
    // The parser recurses: only absurd nesting gets here.
    report.fault([], 'is nested too deeply');
    return undefined;
  }
  const problems = describeProblems(text, [...document.errors, ...document.warnings]);
  for (const { what, offset } of problems) report.fault([], what, lineCounter.linePos(offset).line);
  return problems.length === 0 ? document : undefined;
}
