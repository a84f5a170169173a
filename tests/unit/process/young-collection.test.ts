import { expect, test } from '@jest/globals';
import { createYoungCollection } from '../../../lib/process/young-collection.ts';

const PIECE = 64 * 1024;
const MB = 1024 * 1024;

/** The most memory that buffers held while 512 MB of them came and went, in MB. */
function mostHeld(onPiece: (bytes: number) => void): number {
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (let at = 0; at < 512 * MB; at += PIECE) {
    Buffer.allocUnsafeSlow(PIECE);
    onPiece(PIECE);
    if (at % MB === 0) most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  return most / MB;
}

test('buffers that are dead soon hold no more than some megabytes', () => {
  expect(mostHeld(createYoungCollection())).toBeLessThan(16);
});

test('the collector is in reach of nobody else', () => {
  createYoungCollection();
  expect((globalThis as { gc?: unknown }).gc).toBeUndefined();
});
