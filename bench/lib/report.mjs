/** Tables of a run, on the terminal and in RESULTS.md. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { RESULTS, ROOT } from './places.mjs';

/** A Markdown table with its columns padded, so that it reads well as plain text too. */
export function table(head, rows) {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(cells[0]), `| ${rule.join(' | ')} |`, ...cells.slice(1).map(line)].join('\n');
}

/** A number with about three meaning digits. */
export function show(value) {
  if (value === undefined || Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
  if (Math.abs(value) >= 100) return value.toFixed(0);
  if (Math.abs(value) >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

/**
 * The table of bounds. A bound is `{what, value, limit, atLeast?, shownLimit?}`; it holds when the value is at most (or at least)
 * its limit.
 */
export function boundsTable(bounds) {
  const rows = bounds.map((bound) => [
    bound.what,
    `${bound.atLeast ? '≥' : '≤'} ${bound.shownLimit ?? bound.limit}`,
    Number.isNaN(bound.value)
      ? 'not measured'
      : bound.value.toFixed(bound.limit < 1 ? 3 : 2).replace(/\.00$/, ''),
    holds(bound) ? 'pass' : 'FAIL',
  ]);
  return table(['bound', 'limit', 'measured', ''], rows);
}

export function holds({ value, limit, atLeast }) {
  return atLeast ? value >= limit : value <= limit;
}

function revision() {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
    return git('rev-parse', '--short', 'HEAD');
  } catch {
    return 'unknown';
  }
}

/** The load average of the last minute: what else ran on the machine. */
export function loadNow() {
  return loadavg()[0];
}

function loadWords(load) {
  const words = `load average ${load.toFixed(1)} before the run`;
  return load > 0.5 * cpus().length ? `${words}: other work disturbed it` : words;
}

/** What was measured where: neutral words about the machine, versions, the command. */
export function provenance({ command, systems, rounds, loadBefore }) {
  const versions = systems
    .filter((system) => system.version)
    .map(({ name, version }) => `${name} ${version}`);
  return [
    `- ${new Date().toISOString().slice(0, 10)}, revision ${revision()}, \`${command}\`, ${rounds} interleaved rounds, medians of rounds`,
    `- ${cpus().length} cores (${process.arch}, ${process.platform}), shared by load generator, provider and the system measured; loopback only; ${loadWords(loadBefore)}`,
    `- Node ${process.versions.node}, ${versions.join(', ')}`,
  ].join('\n');
}

/** Puts one scenario's text between its marks in RESULTS.md, leaving the others as they are. */
export function writeResults(scenario, text) {
  const [begin, end] = [`<!-- begin ${scenario} -->`, `<!-- end ${scenario} -->`];
  const head =
    '# Results\n\nWritten by `npm run bench -- <scenario>`; how it measures: [README.md](README.md).\n';
  const before = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : head;
  const section = `${begin}\n${text}\n${end}`;
  const old = before.indexOf(begin);
  const after =
    old === -1
      ? `${before.trimEnd()}\n\n${section}\n`
      : before.slice(0, old) + section + before.slice(before.indexOf(end) + end.length);
  writeFileSync(RESULTS, after);
}
