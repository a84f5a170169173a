import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Logger } from '../logging/logger.ts';
import { inWords, StartFault } from '../process/start-fault.ts';
import { acceptUpload, type UploadCall } from './accept-upload.ts';
import { createFreeSpace } from './free-space.ts';
import { createIdempotencyKeys } from './idempotency.ts';
import type { LeaseOptions } from './lease.ts';
import type { UploadLimits } from './receive-upload.ts';
import type { Begun } from './repetitions.ts';
import { resumeUploads } from './resume-uploads.ts';
import type { Staging } from './staging/s3.ts';
import type { UploadAccount } from './upload-account.ts';
import { createUploadRecords } from './upload-record.ts';
import { createUploadRegistry, type UploadRegistry } from './upload-registry.ts';

export interface UploadsDeps {
  /** `videohost.upload.spoolPath` */
  spoolPath: string;
  limits: UploadLimits;
  /** The account of an id; undefined where it is not this hub's. */
  account(target: string): UploadAccount | undefined;
  /** Where callers may put videos beforehand (`videohost.staging`). */
  staging?: Staging | undefined;
  logger: Logger;
  lease?: LeaseOptions;
  /** Milliseconds between two looks at uploads whose hub has died; default 30,000. */
  scanEveryMs?: number;
}

/** All uploads of this hub. */
export interface Uploads extends Pick<UploadRegistry, 'find' | 'list' | 'cancel'> {
  /** Receives and sends one upload. @throws HubError */
  upload(target: string, request: IncomingMessage, call: UploadCall): Promise<Begun>;
  /** Goes on with uploads that a dead hub has left. @throws StartFault when the spool cannot be written */
  start(): Promise<void>;
  /** Stops where it is; the next start goes on. */
  close(): Promise<void>;
}

const SCAN_EVERY_MS = 30_000;

export function createUploads(deps: UploadsDeps): Uploads {
  const { spoolPath, limits, account, logger, scanEveryMs = SCAN_EVERY_MS } = deps;
  const records = createUploadRecords(spoolPath);
  const keys = createIdempotencyKeys(spoolPath);
  const space = createFreeSpace(spoolPath);
  const registry = createUploadRegistry(records, (target) => account(target) !== undefined);
  const closing = new AbortController();
  const opening = { records, registry, staging: deps.staging, lease: deps.lease, logger };
  const accepting = { ...opening, limits, account, keys, space };
  const resuming = { ...opening, spoolPath, account, keys, signal: closing.signal };
  let scanning: NodeJS.Timeout | undefined;

  return {
    upload: (target, request, call) => acceptUpload(target, request, call, accepting),
    find: registry.find,
    list: registry.list,
    cancel: registry.cancel,
    async start() {
      await checkSpool(spoolPath);
      await resumeUploads(resuming);
      scanning = setInterval(
        () =>
          void resumeUploads(resuming).catch((error) => logger.error('The spool cannot be swept', { error })),
        scanEveryMs,
      ).unref();
    },
    async close() {
      closing.abort();
      clearInterval(scanning);
      const running = [...registry.active.values()].filter(({ record }) => record.state !== 'receiving');
      for (const job of running) job.interrupt();
      await Promise.all(running.map((job) => job.ended));
    },
  };
}

/** A video that cannot be spooled should be known of before the first caller sends one. @throws StartFault */
async function checkSpool(spoolPath: string): Promise<void> {
  try {
    await mkdir(spoolPath, { recursive: true, mode: 0o700 });
    await rmdir(await mkdtemp(join(spoolPath, '.check-')));
  } catch (error) {
    throw new StartFault(`The spool directory ${spoolPath} cannot be written: it ${inWords(error)}`, {
      cause: error,
    });
  }
}
