import type {
  InternalContext,
  InternalRequest,
  InternalResponse,
} from '../companion-client/internal-route.ts';
import { INTERNAL_HEADERS } from '../companion-client/protocol.ts';
import { toHubError } from '../errors/hub-error.ts';
import { readBody } from '../http/body.ts';
import type { Logger } from '../logging/logger.ts';
import type { UsageCounters } from '../usage/usage.ts';
import { type AiCall, createAiCall } from './ai-call.ts';
import { readAiRequest } from './body/ai-request.ts';
import { createCallLog, usageOf } from './call-record.ts';
import type { Operation } from './operations.ts';
import { chooseTarget } from './target-choice.ts';
import type { Target } from './targets.ts';
import { tryTargets } from './try-targets.ts';
import { type Ending, writeAnswer } from './write-answer.ts';

export interface AnswerCallDeps {
  targets: ReadonlyMap<string, Target>;
  /** Largest request body, in bytes. */
  bodyLimit: number;
  usage: UsageCounters;
  /** One record a call. */
  logger: Logger;
  /** What the operator has to know. */
  errorLogger: Logger;
  random: () => number;
}

export type AnswerCall = (
  operation: Operation,
  request: InternalRequest,
  response: InternalResponse,
  context: InternalContext,
) => Promise<void>;

/**
 * Creates the one path that every AI call takes: read, choose, try, answer; and whatever happens, count it once and
 * log it once.
 */
export function createAnswerCall(deps: AnswerCallDeps): AnswerCall {
  const { targets, usage, random } = deps;
  const log = createCallLog(deps.logger, deps.errorLogger);

  async function run(call: AiCall, incoming: InternalRequest): Promise<Ending> {
    const { request } = call;
    if (request === undefined) throw new Error('A call without a request cannot be run');
    const choice = chooseTarget(targets, targetHeader(incoming), request.model);
    call.choice = choice;
    call.target = choice.target;
    const result = await tryTargets(call, choice, request, random);
    return writeAnswer(call, call.target, result);
  }

  return async function answerCall(operation, incoming, response, context) {
    const call = createAiCall(operation, response, context);
    let ending: Ending | undefined;
    try {
      call.request = readAiRequest(operation, await readBody(incoming, { limit: deps.bodyLimit }));
    } catch (error) {
      ending = refusal(call, error);
    }
    const counted = usage.begin({
      action: operation,
      caller: call.caller,
      streaming: call.request?.stream ?? false,
    });
    try {
      ending ??= await run(call, incoming);
    } catch (error) {
      ending = refusal(call, error);
    }
    const used = usageOf(call, ending);
    counted.end(used);
    log.write(call, ending, used);
    if (ending.error !== undefined) throw ending.error;
  };
}

/** A call that never reached a provider, or failed within the hub. */
function refusal(call: AiCall, cause: unknown): Ending {
  const error = toHubError(cause);
  return { outcome: call.watch.hasLeft ? 'aborted' : 'error', status: error.status, spent: false, error };
}

function targetHeader(request: InternalRequest): string | undefined {
  const value = request.headers[INTERNAL_HEADERS.target];
  return typeof value === 'string' ? value.trim() : undefined;
}
