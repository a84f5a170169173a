import { randomFillSync } from 'node:crypto';

/** A W3C trace context as far as the hub uses it. */
export interface Trace {
  traceId: string;
  /** `traceparent` for the next hop: the same trace, a span of its own. */
  next: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})/;
const SPAN_BYTES = 8;

/** Random bytes are drawn for many spans at once. */
const pool = Buffer.alloc(SPAN_BYTES * 512);
let used = pool.length;

/** Reads a `traceparent` and makes the one to pass on; undefined when there is none (W3C Trace Context §3.2). */
export function continueTrace(traceparent: string | undefined): Trace | undefined {
  const match = traceparent === undefined ? null : TRACEPARENT.exec(traceparent);
  const traceId = match?.[2];
  if (traceId === undefined) return undefined;
  return { traceId, next: `00-${traceId}-${spanId()}-${match?.[3]}` };
}

function spanId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += SPAN_BYTES;
  return pool.toString('hex', used - SPAN_BYTES, used);
}
