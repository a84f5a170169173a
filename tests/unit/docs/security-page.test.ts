import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../../helpers/hub-process.ts';

/** Each row's last cell: a test file in backticks, then titles (or their beginnings) in quotes. */
function citations(): { file: string; title: string }[] {
  const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
  return [...page.matchAll(/`(tests\/[^`]+\.test\.ts)`((?:;? "[^"]+")+)/g)].flatMap(
    ([, file = '', titles = '']) =>
      [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ file, title })),
  );
}

test('every attack on the security page is shown stopped by a test that exists', () => {
  expect(citations().length).toBeGreaterThan(30);
  const missing = citations().filter(({ file, title }) => {
    const path = join(root, file);
    return !existsSync(path) || !readFileSync(path, 'utf8').replaceAll("\\'", "'").includes(title);
  });
  expect(missing).toEqual([]);
});
