import { constants, PerformanceObserver } from 'node:perf_hooks';
import { expect, test } from '@jest/globals';
import { createYoungCollection } from '../../../lib/process/young-collection.ts';
import { until } from '../../helpers/until.ts';

const MB = 1024 * 1024;

test('V8 collects what is young once for every 8 MB of buffers', async () => {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { detail } = entry as { detail?: { kind?: number } };
      if (detail?.kind === constants.NODE_PERFORMANCE_GC_MINOR) collections += 1;
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  const collect = createYoungCollection();
  for (let counted = 0; counted < 160 * MB; counted += MB) collect(MB);
  await until('all collections are told', () => collections >= 20);
  observer.disconnect();
  // V8 may have had some of its own besides.
  expect(collections).toBeLessThan(40);
});

test('the collector is in reach of nobody else', () => {
  createYoungCollection();
  expect((globalThis as { gc?: unknown }).gc).toBeUndefined();
});
