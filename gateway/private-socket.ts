import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PrivateSockets } from '../lib/companion-client/process-messages.ts';

/** Longest path of a unix socket in bytes: `sun_path` of Linux without its ending zero. */
const LONGEST_SOCKET_PATH = 107;

/**
 * Makes a fresh directory that only this user may enter, and names the sockets in it. It is removed when the
 * process exits. Null where no such place is to be had (a long TMPDIR, a read-only file system): the
 * companion's port serves as well.
 */
export function createPrivateSockets(
  places: readonly string[] = [tmpdir(), '/tmp', '/run'],
): PrivateSockets | null {
  for (const place of places) {
    const longest = join(place, 'hub-XXXXXX', 'calls.sock');
    if (Buffer.byteLength(longest) > LONGEST_SOCKET_PATH) continue;
    try {
      const directory = mkdtempSync(join(place, 'hub-'));
      chmodSync(directory, 0o700);
      process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
      return { http: join(directory, 'http.sock'), calls: join(directory, 'calls.sock') };
    } catch {
      // Not writable: the next place.
    }
  }
  return null;
}
