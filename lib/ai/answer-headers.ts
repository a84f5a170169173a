import type { AiCall } from './ai-call.ts';
import type { Target } from './targets.ts';
import { addRateLimits } from './upstream/rate-limits.ts';
import type { ResponseHeaders } from './upstream/upstream.ts';

/** Who answers, and what the hub itself took for it (ms), leaving out the waits for providers. */
export function hubHeaders(call: AiCall, target: Target, waitedMs: number): string[] {
  const overhead = Math.max(0, performance.now() - call.startedAt - waitedMs);
  return ['x-hub-target', target.id, 'x-hub-overhead-ms', overhead.toFixed(2)];
}

/** The headers of a streamed answer, made when its first event has come. */
export function streamHeaders(call: AiCall, target: Target, received: ResponseHeaders): string[] {
  const headers = hubHeaders(call, target, call.waitedMs + performance.now() - call.attemptStartedAt);
  // A proxy in front must not collect what is meant to flow.
  headers.push('content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-cache');
  headers.push('x-accel-buffering', 'no');
  addRateLimits(headers, received);
  return headers;
}
