import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

const folders: string[] = [];
const stops: (() => unknown)[] = [];

// One hook for both, in this order: what still runs may write into a folder while it is removed.
afterAll(async () => {
  try {
    for (const stop of stops) await stop();
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});

/** A fresh folder below the system's temporary one; gone after the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hub-test-'));
  folders.push(folder);
  return folder;
}

/** Calls `stop` after the test file, and removes its folders once that is done: for helpers that start processes. */
export function stopAfterFile(stop: () => unknown): void {
  stops.push(stop);
}
