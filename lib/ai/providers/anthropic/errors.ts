import { isObject, parsedObject } from '../../json.ts';
import { errorBytes, errorObject } from '../../openai-wire/error-body.ts';
import type { ProviderErrors } from '../provider.ts';

/** `{"type":"error","error":{"type","message"}}` (https://docs.anthropic.com/en/api/errors) in OpenAI's shape. */
export const errors: ProviderErrors = {
  translate(status, body) {
    const error = parsedObject(body)?.error;
    if (!isObject(error) || typeof error.message !== 'string') return body;
    return errorBytes(status, error.message, typeof error.type === 'string' ? error.type : null);
  },
};

/** The error of a stream's `error` event. */
export function streamError(error: unknown): object {
  if (!isObject(error)) return errorObject(502, 'The provider reported an error', null);
  return errorObject(
    502,
    String(error.message ?? 'The provider reported an error'),
    typeof error.type === 'string' ? error.type : null,
  );
}
