import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Far below what makes V8 collect its whole heap, once that has room to grow. */
const EVERY_BYTES = 8 * 1024 * 1024;

/**
 * How far the heap may grow, buffers included, before V8 collects it whole. Left to itself V8 allows 8 MB: less than its
 * young space, at which it starts at once, and again as soon as it is done (measured: up to 50 times in a row).
 */
const GROWING = '--heap-growing-percent=100';

/** Of the function that `--expose-gc` adds to a context. */
type Collect = (options: { type: 'minor' }) => void;

let collect: Collect | undefined;

/**
 * Creates a counter of bytes that were read into fresh buffers, all of them dead soon. Every 8 MB it has V8 collect
 * what is young, which takes half a millisecond and frees them. V8 itself would do so only when its young space is full,
 * and a buffer takes next to no room there: it collects its whole heap instead, because of all the memory that seems to
 * be held. That took a large upload a third of its processor time (measured).
 */
export function createYoungCollection(): (bytes: number) => void {
  collect ??= prepare();
  const run = collect;
  let bytes = 0;
  return (more) => {
    bytes += more;
    if (bytes < EVERY_BYTES) return;
    bytes = 0;
    run({ type: 'minor' });
  };
}

/** The collector is in reach of a context only where it was made with the flag: this process's own never sees it. */
function prepare(): Collect {
  setFlagsFromString(GROWING);
  setFlagsFromString('--expose-gc');
  const exposed: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return typeof exposed === 'function' ? (exposed as Collect) : () => {};
}
