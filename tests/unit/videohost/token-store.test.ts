import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createFileTokenStore } from '../../../lib/videohost/token-store/file.ts';
import { createMemoryTokenStore } from '../../../lib/videohost/token-store/memory.ts';
import { createS3TokenStore } from '../../../lib/videohost/token-store/s3.ts';
import type { TokenStore, Tokens } from '../../../lib/videohost/token-store/token-store.ts';
import { startFakeS3 } from '../../helpers/fake-s3.ts';
import { temporaryFolder } from '../../helpers/temp-folder.ts';

const tokens: Tokens = {
  access_token: 'access-1',
  refresh_token: 'refresh-1',
  scope: 'a b',
  token_type: 'Bearer',
  expiry_date: 1_800_000_000_000,
};
const signal = AbortSignal.timeout(20_000);

/** Two copies of one store, as two hubs have them. */
type Open = (now: () => number) => Promise<[TokenStore, TokenStore]>;

const stores: [string, Open][] = [
  [
    'memory',
    async (now) => {
      const store = createMemoryTokenStore({ now });
      return [store, store];
    },
  ],
  [
    'file',
    async (now) => {
      const options = {
        directory: join(temporaryFolder(), 'tokens'),
        pattern: 't_{id}.json',
        now,
        lockPollMs: 5,
      };
      return [createFileTokenStore(options), createFileTokenStore(options)];
    },
  ],
  [
    's3',
    async (now) => {
      const { endpoint } = await startFakeS3();
      const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
      const place = { bucket: 'tokens', prefix: 'hub/', region: 'eu-test-1', endpoint };
      const options = { place, pattern: 't_{id}.json', now, lockPollMs: 5, credentials };
      return [createS3TokenStore(options), createS3TokenStore(options)];
    },
  ],
];

describe.each(stores)('the %s store', (_name, open) => {
  test('gives back what was written, to every copy, and nothing of another account [S1-video-tokens, C2-token-store-s3]', async () => {
    const [store, other] = await open(Date.now);
    expect(await store.read('main')).toBeUndefined();
    await store.write('main', tokens);
    await store.write('a.b-c', { ...tokens, access_token: 'access-2' });
    expect(await other.read('main')).toEqual(tokens);
    expect((await other.read('a.b-c'))?.access_token).toBe('access-2');
    await other.write('main', { ...tokens, expiry_date: 1 });
    expect((await store.read('main'))?.expiry_date).toBe(1);
  });

  test('removes tokens with their notes, and says whether there were any', async () => {
    const [store, other] = await open(Date.now);
    await store.write('main', tokens);
    await store.writeNote('main', 'refused', 'because');
    expect(await other.readNote('main', 'refused')).toBe('because');
    expect(await other.readNote('main', 'pending')).toBeUndefined();
    expect(await store.remove('main')).toBe(true);
    expect(await store.remove('main')).toBe(false);
    expect(await other.read('main')).toBeUndefined();
    expect(await other.readNote('main', 'refused')).toBeUndefined();
    await store.removeNote('main', 'refused');
  });

  test('lets a nonce be spent once, by one of many [C7-state]', async () => {
    let time = 1000;
    const [store, other] = await open(() => time);
    const spent = await Promise.all([store, other, store, other].map((one) => one.spend('abc', 2000)));
    expect(spent.filter(Boolean)).toHaveLength(1);
    expect(await other.spend('abd', 2000)).toBe(true);
    time = 1999;
    expect(await other.spend('abc', 2000)).toBe(false);
  });

  test('gives the lock of an account to one at a time [C7-refresh-single-flight]', async () => {
    const [store, other] = await open(Date.now);
    let holders = 0;
    let most = 0;
    await Promise.all(
      [store, other, store, other].map(async (one) => {
        const release = await one.lock('main', signal);
        holders += 1;
        most = Math.max(most, holders);
        await new Promise((resolve) => setTimeout(resolve, 20));
        holders -= 1;
        await release();
      }),
    );
    expect(most).toBe(1);
  });

  test('keeps the locks of two accounts apart, and lets whoever waits give up', async () => {
    const [store, other] = await open(Date.now);
    const release = await store.lock('main', signal);
    const releaseOther = await other.lock('second', signal);
    await releaseOther();
    const impatient = new AbortController();
    const waiting = other.lock('main', impatient.signal);
    setTimeout(() => impatient.abort(new Error('enough')), 30);
    await expect(waiting).rejects.toThrow();
    await release();
    await (await other.lock('main', signal))();
  });
});

describe('token files', () => {
  const open = () => {
    const directory = join(temporaryFolder(), 'tokens');
    return { directory, store: createFileTokenStore({ directory, pattern: 't_{id}.json' }) };
  };

  test('have mode 0600, as has all that lies beside them [C7-token-atomic, S2.5-token-file]', async () => {
    const { directory, store } = open();
    await store.write('main', tokens);
    await store.writeNote('main', 'refused', 'x');
    await store.spend('nonce', Date.now() + 1000);
    await (await store.lock('main', signal))();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect(statSync(join(file.parentPath, file.name)).mode & 0o077).toBe(0);
    expect(JSON.parse(readFileSync(join(directory, 't_main.json'), 'utf8'))).toEqual(tokens);
  });

  test('written by other programs are read: unknown fields stay, missing ones are filled in', async () => {
    const { directory, store } = open();
    mkdirSync(directory);
    writeFileSync(join(directory, 't_main.json'), '{"access_token":"a","id_token":"i","refresh_token":""}');
    expect(await store.read('main')).toEqual({
      access_token: 'a',
      id_token: 'i',
      scope: '',
      token_type: 'Bearer',
      expiry_date: 0,
    });
  });

  test.each(['', '{', 'null', '[]', '{"refresh_token":"r"}'])(
    'that hold %j are refused without a word of their content',
    async (text) => {
      const { directory, store } = open();
      mkdirSync(directory);
      writeFileSync(join(directory, 't_main.json'), text);
      await expect(store.read('main')).rejects.toThrow(
        /^the stored tokens (are not JSON|lack access_token)$/,
      );
    },
  );

  test('leave no expired nonce and no abandoned half behind [C7-token-atomic]', async () => {
    const directory = join(temporaryFolder(), 'tokens');
    let time = Date.now();
    const store = createFileTokenStore({ directory, pattern: 't_{id}.json', now: () => time });
    await store.spend('old', time + 10);
    writeFileSync(join(directory, '.t_main.json.0123456789ab.tmp'), 'half');
    time += 120_000;
    await store.spend('new', time + 10);
    expect(readdirSync(directory)).toEqual(['.hub']);
    expect(readdirSync(join(directory, '.hub'))).toEqual([expect.stringMatching(/^nonce\.\d+\.new$/)]);
  });
});
