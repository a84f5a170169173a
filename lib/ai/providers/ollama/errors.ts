import { parsedObject } from '../../json.ts';
import { errorBytes, errorObject } from '../../openai-wire/error-body.ts';
import type { ProviderErrors } from '../provider.ts';

/** `{"error":"message"}` in OpenAI's shape. */
export const errors: ProviderErrors = {
  translate(status, body) {
    const error = parsedObject(body)?.error;
    return typeof error === 'string' ? errorBytes(status, error, null) : body;
  },
};

/** The error of a stream's line. */
export function streamError(error: unknown): object {
  return errorObject(502, String(error), null);
}
