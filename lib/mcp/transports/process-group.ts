import { setTimeout as delay } from 'node:timers/promises';

/** Sends a signal to a process group; false when no member is left (or it is not ours). */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/**
 * Ends a process group for good: TERM, and KILL to whoever is left after `graceMs`. The group outlives its
 * leader while a grandchild runs (npx and uvx start the real server below themselves), so it is the group that
 * is watched, not the child.
 */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return;
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline) {
    await delay(Math.min(15, graceMs));
    if (!signalGroup(pid, 0)) return;
  }
  signalGroup(pid, 'SIGKILL');
}
