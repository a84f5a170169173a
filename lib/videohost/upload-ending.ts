import { errorBody, type HubError } from '../errors/hub-error.ts';
import type { Lease } from './lease.ts';
import type { UploadRecord, UploadRecords, UploadResult } from './upload-record.ts';
import { videoError } from './video-errors.ts';

/** How a job ended; `interrupted` ones go on at the next start. */
export type Ending =
  | { kind: 'done'; result: UploadResult }
  | { kind: 'failed'; error: HubError }
  | { kind: 'cancelled' }
  | { kind: 'interrupted' };

/** Puts the end of an upload down in its record, gives its lease back and removes the files that nobody needs now. */
export async function recordEnding(
  ending: Ending,
  { record, records, lease }: { record: UploadRecord; records: UploadRecords; lease: Lease },
): Promise<void> {
  if (ending.kind === 'interrupted') {
    // After a lost lease the record belongs to another process.
    if (!lease.lost.aborted) await records.write(record);
    await lease.release();
    return;
  }
  // Callers see the end when nothing is left to clean up.
  const last: UploadRecord = { ...record, state: ending.kind, endedAt: new Date().toISOString() };
  delete last.session;
  if (ending.kind === 'done') last.result = ending.result;
  if (ending.kind === 'failed') last.error = errorBody(ending.error).error;
  await records.write(last);
  await lease.release();
  await records.removeFiles(record.uploadId);
  Object.assign(record, last);
}

/** What a caller who waits for a job is told of its end. @throws HubError */
export function resultOfEnding(ending: Ending, target: string): UploadResult {
  switch (ending.kind) {
    case 'done':
      return ending.result;
    case 'failed':
      throw ending.error;
    case 'cancelled':
      throw cancelledError(target);
    case 'interrupted':
      throw interruptedError(target);
  }
}

/** The upload was given up on request. */
export function cancelledError(target: string): HubError {
  return videoError('conflict', 'The upload was cancelled', {
    target,
    reason: 'cancelled',
    hint: 'Send the upload again if it is wanted after all.',
  });
}

/** The upload stops here and is taken up again later. */
export function interruptedError(target: string): HubError {
  return videoError('shutting_down', 'The hub is shutting down; the upload goes on at its next start', {
    target,
    reason: 'interrupted',
    hint: 'Look for it under GET /videohost/uploads, or repeat the request with its Idempotency-Key.',
  });
}
