import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMissing, namesIn, sweepTemporaries, writeFileAtomic } from '../atomic-file.ts';
import { takeLease } from '../lease.ts';
import { systemCodeOf } from '../system-code.ts';
import { type NoteName, parseTokens, type TokenStore } from './token-store.ts';

export interface FileTokenStoreOptions {
  /** `videohost.token_storage_path`. */
  directory: string;
  /** `videohost.token_storage_file`; `{id}` is the account id. */
  pattern: string;
  now?: () => number;
  /** Milliseconds between two tries for a lock that another process holds; default 50. */
  lockPollMs?: number;
}

/** What is kept beside the tokens: notes, used nonces, locks. */
const BESIDE = '.hub';

/** Tokens as files of mode 0600 in one directory, one an account. */
export function createFileTokenStore(options: FileTokenStoreOptions): TokenStore {
  const { directory, pattern, now = Date.now, lockPollMs = 50 } = options;
  const beside = join(directory, BESIDE);
  const fileOf = (accountId: string) => join(directory, pattern.replaceAll('{id}', accountId));
  const noteOf = (accountId: string, name: NoteName) => join(beside, `${accountId}.${name}`);

  async function removeFile(path: string): Promise<boolean> {
    try {
      await rm(path);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  async function forgetExpired(): Promise<void> {
    for (const name of await namesIn(beside)) {
      const expiry = /^nonce\.(\d+)\./.exec(name)?.[1];
      if (expiry !== undefined && Number(expiry) <= now()) await rm(join(beside, name), { force: true });
    }
    await sweepTemporaries(directory, now());
  }

  return {
    async read(accountId) {
      const text = await readText(fileOf(accountId));
      return text === undefined ? undefined : parseTokens(text);
    },
    async write(accountId, tokens) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await writeFileAtomic(fileOf(accountId), `${JSON.stringify(tokens, null, 2)}\n`);
    },
    async remove(accountId) {
      const existed = await removeFile(fileOf(accountId));
      await removeFile(noteOf(accountId, 'refused'));
      await removeFile(noteOf(accountId, 'pending'));
      return existed;
    },
    readNote: (accountId, name) => readText(noteOf(accountId, name)),
    async writeNote(accountId, name, text) {
      await mkdir(beside, { recursive: true, mode: 0o700 });
      await writeFileAtomic(noteOf(accountId, name), text);
    },
    async removeNote(accountId, name) {
      await removeFile(noteOf(accountId, name));
    },
    async spend(nonce, expiresAt) {
      await mkdir(beside, { recursive: true, mode: 0o700 });
      await forgetExpired();
      try {
        const file = await open(join(beside, `nonce.${expiresAt}.${nonce}`), 'wx', 0o600);
        await file.close();
        return true;
      } catch (error) {
        if (systemCodeOf(error) === 'EEXIST') return false;
        throw error;
      }
    },
    async lock(accountId, signal) {
      for (;;) {
        signal.throwIfAborted();
        const lease = await takeLease(beside, `lock.${accountId}`);
        if (lease !== undefined) return lease.release;
        await sleep(lockPollMs, undefined, { signal });
      }
    },
  };
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
