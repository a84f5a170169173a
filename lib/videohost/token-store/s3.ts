import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createS3Opener, type S3Credentials, type S3Place, sdk } from '../s3.ts';
import { type NoteName, parseTokens, type TokenStore } from './token-store.ts';

export interface S3TokenStoreOptions {
  place: S3Place;
  /** `videohost.token_storage_file`; `{id}` is the account id. */
  pattern: string;
  now?: () => number;
  /** Milliseconds between two tries for a lock that another hub holds; default 250. */
  lockPollMs?: number;
  /** Milliseconds after which a lock that was not given back counts as left by a dead hub; default 90,000. */
  lockLifeMs?: number;
  /** Default: as the AWS SDK finds them (environment, role). */
  credentials?: S3Credentials;
}

/** Longer than any refresh may take. */
const LOCK_LIFE_MS = 90_000;
const LOCK_POLL_MS = 250;

/**
 * Tokens as objects of one bucket. What must happen once (a nonce, a lock) is written on the condition that the
 * object is not there, or is still the one that was read: S3 grants that to one writer.
 */
export function createS3TokenStore(options: S3TokenStoreOptions): TokenStore {
  const { place, pattern, now = Date.now, lockPollMs = LOCK_POLL_MS, lockLifeMs = LOCK_LIFE_MS } = options;
  const { bucket: Bucket, prefix } = place;
  const tokensOf = (accountId: string) => `${prefix}${pattern.replaceAll('{id}', accountId)}`;
  const beside = (name: string) => `${prefix}.hub/${name}`;
  const noteOf = (accountId: string, name: NoteName) => beside(`${accountId}.${name}`);

  const client = createS3Opener(place, options.credentials);

  async function get(Key: string): Promise<{ text: string; etag: string } | undefined> {
    const { GetObjectCommand } = await sdk();
    try {
      const answer = await (await client()).send(new GetObjectCommand({ Bucket, Key }));
      return { text: (await answer.Body?.transformToString()) ?? '', etag: answer.ETag ?? '' };
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  /** Writes; false where the condition does not hold. */
  async function put(
    Key: string,
    Body: string,
    condition: { IfNoneMatch?: '*'; IfMatch?: string } = {},
  ): Promise<boolean> {
    const { PutObjectCommand } = await sdk();
    try {
      const ContentType = 'application/json';
      const body = { Body, ContentType, ContentLength: Buffer.byteLength(Body) };
      await (await client()).send(new PutObjectCommand({ Bucket, Key, ...body, ...condition }));
      return true;
    } catch (error) {
      const status = statusOf(error);
      // 412 is the answer to a condition that does not hold, 409 to one of two writers at once.
      if (Object.keys(condition).length > 0 && (status === 412 || status === 409 || status === 404))
        return false;
      throw error;
    }
  }

  async function remove(Key: string): Promise<void> {
    const { DeleteObjectCommand } = await sdk();
    await (await client()).send(new DeleteObjectCommand({ Bucket, Key }));
  }

  async function forgetExpired(): Promise<void> {
    const { ListObjectsV2Command } = await sdk();
    const Prefix = beside('nonce.');
    const { Contents = [] } = await (await client()).send(new ListObjectsV2Command({ Bucket, Prefix }));
    for (const { Key = '' } of Contents) {
      const expiry = /nonce\.(\d+)\./.exec(Key.slice(prefix.length))?.[1];
      if (expiry !== undefined && Number(expiry) <= now()) await remove(Key);
    }
  }

  return {
    async read(accountId) {
      const found = await get(tokensOf(accountId));
      return found === undefined ? undefined : parseTokens(found.text);
    },
    async write(accountId, tokens) {
      await put(tokensOf(accountId), `${JSON.stringify(tokens, null, 2)}\n`);
    },
    async remove(accountId) {
      const existed = (await get(tokensOf(accountId))) !== undefined;
      await remove(tokensOf(accountId));
      await remove(noteOf(accountId, 'refused'));
      await remove(noteOf(accountId, 'pending'));
      return existed;
    },
    readNote: async (accountId, name) => (await get(noteOf(accountId, name)))?.text,
    async writeNote(accountId, name, text) {
      await put(noteOf(accountId, name), text);
    },
    removeNote: (accountId, name) => remove(noteOf(accountId, name)),
    async spend(nonce, expiresAt) {
      await forgetExpired();
      return put(beside(`nonce.${expiresAt}.${nonce}`), '', { IfNoneMatch: '*' });
    },
    async lock(accountId, signal) {
      const key = beside(`lock.${accountId}`);
      const mine = randomBytes(8).toString('hex');
      for (;;) {
        signal.throwIfAborted();
        const held = await get(key);
        const [, until = '0'] = held?.text.split(' ') ?? [];
        const isFree = held === undefined || Number(until) <= now();
        const condition = held === undefined ? { IfNoneMatch: '*' as const } : { IfMatch: held.etag };
        if (isFree && (await put(key, `${mine} ${now() + lockLifeMs}`, condition))) break;
        await sleep(lockPollMs, undefined, { signal });
      }
      return async () => {
        const held = await get(key).catch(() => undefined);
        if (held?.text.startsWith(`${mine} `)) {
          await put(key, `${mine} 0`, { IfMatch: held.etag }).catch(() => {});
        }
      };
    },
  };
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
