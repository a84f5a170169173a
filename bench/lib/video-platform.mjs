/** The fake video platform of the tests as a process of its own: counts what it gets and keeps nothing. */
import { importTs } from '../../tests/helpers/import-ts.mjs';

const { openFakeVideoPlatform } = await importTs(
  new URL('../../tests/helpers/fake-video-platform.ts', import.meta.url),
);
const platform = await openFakeVideoPlatform();
// One line: address, configuration of a hub's videohost section, and the tokens of its account.
console.log(
  `platform ${JSON.stringify({
    url: platform.url,
    videohost: platform.videohost(),
    tokens: platform.identity.issue({ expiresIn: 24 * 3600 }),
  })}`,
);
