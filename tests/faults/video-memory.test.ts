import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { type Part, startVideoHub, thumbnail, title, type VideoHub, video } from '../helpers/video.ts';

/** Size of the video; the whole claim: `VIDEO_BYTES=2147483648`. */
const BYTES = Number(process.env.VIDEO_BYTES ?? 200 * 1024 * 1024);
const MOST_GROWTH = 100 * 1024 * 1024;

function residentBytes(hub: VideoHub): number {
  return hub.pids().reduce((sum, pid) => {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return sum + pages * 4096;
  }, 0);
}

test.each([
  ['the video before the title', 'last'],
  ['the title before the video', 'first'],
])(
  `a video of ${BYTES} bytes makes the hub grow by less than 100 MB, %s [C7-constant-memory, C7-any-order]`,
  async (_what, place) => {
    const hub = await startVideoHub();
    await hub.upload([title, video(), thumbnail()]);
    hub.platform.videos.length = 0;
    const hash = createHash('sha256');
    const block = randomBytes(1024 * 1024 + 7);
    const bytes = function* () {
      for (let left = BYTES; left > 0; left -= block.length) {
        const piece = block.subarray(0, Math.min(left, block.length));
        hash.update(piece);
        yield piece;
      }
    };
    const before = residentBytes(hub);
    let most = before;
    const looking = setInterval(() => {
      most = Math.max(most, residentBytes(hub));
    }, 20);
    const film = video(Readable.from(bytes()));
    const parts: Part[] = place === 'last' ? [film, title] : [title, film];
    const answer = await hub.upload(parts);
    clearInterval(looking);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    expect(hub.platform.videos.map((one) => [one.bytes, one.sha256])).toEqual([[BYTES, hash.digest('hex')]]);
    expect(most - before).toBeLessThan(MOST_GROWTH);
  },
  60_000 + BYTES / 5000,
);
