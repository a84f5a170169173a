import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

test.each(['gateway', 'companion', 'video-sender'])(
  'the source map of %s leads to our own files alone: those of packages would cost the process its weight again',
  (name) => {
    const map = JSON.parse(readFileSync(`dist/${name}.mjs.map`, 'utf8'));
    expect(map.sources.filter((source: string) => source.includes('node_modules'))).toEqual([]);
    expect(map.sources.some((source: string) => source.startsWith('../lib/'))).toBe(true);
    expect(map.sourcesContent).toBeUndefined();
  },
);
