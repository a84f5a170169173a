import type { CallFacts } from '../call-facts.ts';
import { isObject, type JsonObject } from '../json.ts';
import { readUsage } from './usage.ts';

/** Longest label taken from a provider. */
const LONGEST_LABEL = 200;

/**
 * Notes model, usage and finish reasons of a whole answer, a stream's chunk, or an event of the responses route
 * (whose facts lie in its `response` member, its end in `status`).
 */
export function noteFacts(document: JsonObject, facts: CallFacts): void {
  const { response } = document;
  const holder = isObject(response) ? response : document;
  const { model, choices, status } = holder;
  if (typeof model === 'string' && model !== '') facts.model = model.slice(0, LONGEST_LABEL);
  const usage = readUsage(holder.usage);
  if (usage !== undefined) facts.usage = usage;
  if (Array.isArray(choices)) {
    for (const choice of choices) {
      const reason = isObject(choice) ? choice.finish_reason : undefined;
      if (typeof reason === 'string') facts.finishReasons.push(reason.slice(0, LONGEST_LABEL));
    }
  } else if (status === 'completed' || status === 'incomplete') {
    const reason = isObject(holder.incomplete_details) ? holder.incomplete_details.reason : undefined;
    facts.finishReasons.push(typeof reason === 'string' ? reason.slice(0, LONGEST_LABEL) : status);
    facts.isComplete = true;
  }
}

/** The error that a 2xx or a stream's event carries, in any of the shapes met; undefined when it carries none. */
export function errorOf(document: JsonObject): string | undefined {
  const { error, type, response } = document;
  if (error !== undefined && error !== null && error !== false) {
    const message = isObject(error) ? error.message : error;
    return typeof message === 'string' ? message : 'an error without a message';
  }
  if (type === 'error') return typeof document.message === 'string' ? document.message : 'an error event';
  if (type === 'response.failed' && isObject(response))
    return errorOf({ error: response.error }) ?? 'it failed';
  return undefined;
}
