/**
 * Keeps a machine's memory in the state of a server that has run for a while: none free, all of it page cache.
 *
 * A virtual machine may hand free memory back to its host seconds after it was freed, and gets it again page by page:
 * the next 2 GB written to files then cost up to ten times the usual (measured). That is no system's doing, would hit
 * only those that write, and happens to nobody whose memory is in use.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { atEnd } from './processes.mjs';

const MB = 1024 * 1024;
/** What may stay free, in bytes: the kernel keeps some. */
const FREE = 512 * MB;
/** Bytes read between two looks. */
const STEP = 64 * MB;

const meminfo = (name) =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync('/proc/meminfo', 'utf8'))[1]) * 1024;

/**
 * Makes a sparse file as large as the memory at `path`; it takes no room on disk.
 * @returns a function that reads on in it until no memory is free
 */
export function openPageCache(path) {
  const size = meminfo('MemTotal');
  const file = openSync(path, 'w+');
  ftruncateSync(file, size);
  atEnd(() => {
    closeSync(file);
    rmSync(path, { force: true });
  });
  const block = Buffer.allocUnsafe(MB);
  let at = 0;
  return function fill() {
    // Bounded: where a limit of its own keeps the page cache small, memory stays free whatever is read.
    for (let read = 0; read < size && meminfo('MemFree') > FREE; read += STEP) {
      for (let part = 0; part < STEP; part += MB) {
        readSync(file, block, 0, MB, at);
        at = (at + MB) % size;
      }
    }
  };
}
