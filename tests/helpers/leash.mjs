/**
 * Runs beside a test process and ends what that one started, should it die without doing so itself: reads
 * `+<pid>` and `-<pid>` lines on stdin, and on its end kills the process groups that are left. A line with an absolute
 * path names a folder to remove then.
 */
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
const folders = [];
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  if (line[0] === '/') folders.push(line);
  else if (line[0] === '+') pids.add(Number(line.slice(1)));
  else pids.delete(Number(line.slice(1)));
});
lines.on('close', () => {
  for (const pid of pids) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
// Ctrl-C reaches the whole terminal group; the leash must outlive those that it watches over.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
