import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Everything that a run downloads or writes, but its results; git-ignored. */
export const WORK = fileURLToPath(new URL('../.work/', import.meta.url));
/** Where the tables of full runs are kept. */
export const RESULTS = fileURLToPath(new URL('../RESULTS.md', import.meta.url));
/** Where `--profile` leaves the CPU profiles of the hub's processes. */
export const PROFILES = `${WORK}profiles`;
