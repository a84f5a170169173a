import type { CallFacts } from '../call-facts.ts';
import { isObject, type JsonObject } from '../json.ts';
import { BadAnswer, type ProviderResponse } from '../providers/provider.ts';
import { errorOf, noteFacts } from './facts.ts';

/** Answers that speak OpenAI's protocol already: checked, read, and relayed as they are. */
export const relayedAnswer: ProviderResponse = {
  read(body: Buffer, facts: CallFacts): Buffer {
    let document: unknown;
    try {
      document = JSON.parse(body.toString('utf8'));
    } catch (cause) {
      throw new BadAnswer('the body is not JSON', { cause });
    }
    if (!isObject(document)) throw new BadAnswer('the body is not a JSON object');
    const error = errorOf(document);
    // A response object says itself that it failed; it is an answer all the same.
    if (error !== undefined && document.object === 'response') facts.hasFailed = true;
    else if (error !== undefined) throw new BadAnswer(`status 200 with an error: ${error}`);
    noteFacts(document, facts);
    if (facts.usage === undefined) facts.completionChars = textLength(document);
    return body;
  },
};

/** Characters of the choices' texts, for an estimate. */
function textLength({ choices }: JsonObject): number {
  if (!Array.isArray(choices)) return 0;
  let length = 0;
  for (const choice of choices) {
    if (!isObject(choice)) continue;
    const text = isObject(choice.message) ? choice.message.content : choice.text;
    if (typeof text === 'string') length += text.length;
  }
  return length;
}
