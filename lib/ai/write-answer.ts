import type { HubError } from '../errors/hub-error.ts';
import type { AiCall } from './ai-call.ts';
import { hubHeaders } from './answer-headers.ts';
import type { AttemptResult } from './attempt.ts';
import type { CallFacts } from './call-facts.ts';
import type { Failure } from './failure.ts';
import { forbidsRetry, hubErrorOf } from './failure-response.ts';
import type { Target } from './targets.ts';
import { addRateLimits } from './upstream/rate-limits.ts';

/** How a call ended, for usage and the log. */
export interface Ending {
  outcome: 'success' | 'error' | 'aborted';
  /** What the caller was told; 499 when it had left before. */
  status: number;
  /** Whether tokens were spent: the provider began to answer, or was at work when the caller left. */
  spent: boolean;
  failure?: Failure;
  /** Not written yet: the companion's server renders it. */
  error?: HubError;
}

/** Writes the outcome of the tries, unless it has been streamed already. */
export function writeAnswer(call: AiCall, target: Target, result: AttemptResult): Ending {
  const { response, facts } = call;
  switch (result.kind) {
    case 'left':
      return { outcome: 'aborted', status: response.headersSent ? 200 : 499, spent: call.attempts > 0 };
    case 'answer': {
      const headers = hubHeaders(call, target, call.waitedMs);
      headers.push('content-type', 'application/json', 'content-length', String(result.body.length));
      addRateLimits(headers, result.headers);
      response.writeHead(200, headers);
      response.end(result.body);
      return { outcome: facts.hasFailed ? 'error' : 'success', status: 200, spent: true };
    }
    case 'streamed': {
      const { failure } = result;
      const isSuccess = failure === undefined && isComplete(facts);
      const ending: Ending = { outcome: isSuccess ? 'success' : 'error', status: 200, spent: true };
      return failure === undefined ? ending : { ...ending, failure };
    }
    case 'failed':
      return writeFailure(call, target, result.failure);
  }
}

/** The provider's own error goes on as it is; any other failure is the hub's to tell. */
function writeFailure(call: AiCall, target: Target, failure: Failure): Ending {
  const headers = hubHeaders(call, target, call.waitedMs);
  if (forbidsRetry(failure, call.attempts, call.waitRefused)) headers.push('x-should-retry', 'false');
  const { answer, status } = failure;
  if (answer !== undefined) headers.push(...answer.headers);
  if (answer === undefined || status === undefined || answer.body.length === 0) {
    const error = hubErrorOf(failure, target, recordOf(headers));
    return { outcome: 'error', status: error.status, spent: false, failure, error };
  }
  headers.push('content-type', answer.contentType, 'content-length', String(answer.body.length));
  call.response.writeHead(status, headers);
  call.response.end(answer.body);
  return { outcome: 'error', status, spent: false, failure };
}

/** A stream that just stops was cut, whatever its connection says: nothing told that the answer is complete. */
function isComplete(facts: CallFacts): boolean {
  return (facts.isComplete || facts.finishReasons.length > 0) && !facts.hasFailed;
}

function recordOf(headers: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    record[headers[index] ?? ''] = headers[index + 1] ?? '';
  }
  return record;
}
