import { setTimeout as sleep } from 'node:timers/promises';
import type { IdempotencyKeys } from './idempotency.ts';
import type { UploadJob } from './upload-job.ts';
import type { UploadRecord, UploadResult } from './upload-record.ts';
import type { UploadRegistry } from './upload-registry.ts';
import { videoError } from './video-errors.ts';

/** What is answered to an upload. */
export type Begun = { kind: 'result'; result: UploadResult } | { kind: 'accepted'; uploadId: string };

/** How often an upload in another hub is looked at, in ms. */
const POLL_MS = 500;

/**
 * Takes the Idempotency-Key of a received upload for it (undefined), or gives what the earlier upload under that key
 * has come to. Whoever waits for one that fails goes on himself.
 * @throws HubError `idempotency_mismatch` where the earlier one was another form
 */
export async function repetitionOf(
  job: UploadJob,
  { keys, registry }: { keys: IdempotencyKeys; registry: UploadRegistry },
  { signal, respondAsync }: { signal: AbortSignal; respondAsync: boolean },
): Promise<Begun | undefined> {
  const { idempotency, uploadId, target } = job.record;
  if (idempotency === undefined) return undefined;

  /** The upload that the key stands for, while it may still give a result. */
  async function standing(id: string): Promise<UploadRecord | undefined> {
    const record = await registry.record(id);
    return record?.state === 'failed' || record?.state === 'cancelled' ? undefined : record;
  }

  /** Waits for an upload that may run in another hub. Its result; undefined when it failed. */
  async function outcomeOf(id: string): Promise<UploadResult | undefined> {
    for (;;) {
      const record = await standing(id);
      if (record === undefined || record.state === 'done') return record?.result;
      const pause = sleep(POLL_MS, undefined, { signal }).catch(() => {});
      await Promise.race([registry.active.get(id)?.ended ?? pause, pause]);
      signal.throwIfAborted();
    }
  }

  for (;;) {
    const claim = await keys.current(idempotency.key);
    const first = claim === undefined ? undefined : await standing(claim.uploadId);
    if (first === undefined) {
      if (await keys.claim(idempotency.key, claim, uploadId)) return undefined;
      continue;
    }
    if (first.idempotency?.fingerprint !== idempotency.fingerprint) {
      throw videoError('idempotency_mismatch', 'This Idempotency-Key was used for another upload', {
        target,
        param: 'idempotency-key',
        reason: 'idempotency_mismatch',
        hint: 'Repeat the very same form under a key, or send another one under a new key.',
      });
    }
    if (respondAsync && first.state !== 'done') return { kind: 'accepted', uploadId: first.uploadId };
    const result = await outcomeOf(first.uploadId);
    if (result !== undefined) return { kind: 'result', result };
  }
}
