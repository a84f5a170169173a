/** What the kernel says about processes (`/proc`; Linux only). All reads are synchronous and take some 50 µs. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const PAGE_BYTES = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));

/** Fields of `/proc/<pid>/stat` after the command name, which may itself hold spaces and brackets; undefined = gone. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** `pid` and all its living descendants. */
export function treeOf(pid) {
  const childrenOf = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(name)?.[1]);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)]);
  }
  const tree = [pid];
  for (const member of tree) tree.push(...(childrenOf.get(member) ?? []));
  return tree;
}

/** Processor seconds (user + system, ended children included) that these processes have used so far. */
export function processorSeconds(pids) {
  let ticks = 0;
  for (const pid of pids) {
    const stat = statOf(pid);
    // Fields 14 to 17 of proc(5): utime, stime, cutime, cstime.
    if (stat) ticks += Number(stat[11]) + Number(stat[12]) + Number(stat[13]) + Number(stat[14]);
  }
  return ticks / TICKS_PER_SECOND;
}

/** Resident memory of these processes, in MB. Pages that they share count once for each. */
export function residentMegabytes(pids) {
  let pages = 0;
  for (const pid of pids) {
    const stat = statOf(pid);
    if (stat) pages += Number(stat[21]);
  }
  return (pages * PAGE_BYTES) / 1e6;
}
