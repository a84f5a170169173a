import { mkdir, statfs } from 'node:fs/promises';
import type { HubError } from '../errors/hub-error.ts';
import { systemCodeOf } from './system-code.ts';
import { videoError } from './video-errors.ts';

/** Left free for everybody else on the disk: this part of it, at most so many bytes. */
const RESERVED_PART = 0.01;
const MOST_RESERVED = 256 * 1024 * 1024;

/** Watches over the disk that holds the spool. */
export interface FreeSpace {
  /**
   * Claims room for `bytes` more; give them back with `release` as they are written or given up.
   * @throws HubError `insufficient_storage`
   */
  claim(target: string, bytes: number): Promise<void>;
  release(bytes: number): void;
}

export function createFreeSpace(directory: string): FreeSpace {
  let claimed = 0;
  return {
    async claim(target, bytes) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const disk = await statfs(directory);
      const reserved = Math.min(disk.blocks * disk.bsize * RESERVED_PART, MOST_RESERVED);
      const free = disk.bavail * disk.bsize - reserved - claimed;
      if (bytes > free) throw noSpace(target);
      claimed += bytes;
    },
    release(bytes) {
      claimed -= bytes;
    },
  };
}

/** The disk is full, or would be. */
export function noSpace(target: string, cause?: unknown): HubError {
  return videoError('insufficient_storage', 'There is not enough space on disk for this upload', {
    target,
    reason: 'disk_full',
    hint: 'Free space in videohost.upload.spoolPath, or point it to a larger disk, then send the upload again.',
    cause,
  });
}

/** Whether a write failed because the disk, or the hub's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOSPC' || code === 'EDQUOT';
}
