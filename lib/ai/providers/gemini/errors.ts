import { isObject, type JsonObject, parsedObject } from '../../json.ts';
import { errorBytes, errorObject } from '../../openai-wire/error-body.ts';
import type { ProviderErrors } from '../provider.ts';

/** `{"error":{"code","message","status","details"}}` (google.rpc.Status) in OpenAI's shape. */
export const errors: ProviderErrors = {
  translate(status, body) {
    const error = errorOf(body);
    return error === undefined ? body : errorBytes(status, String(error.message), codeOf(error));
  },
  // A wrong key is a 400 here.
  isCredentialFault(_status, body) {
    const details = errorOf(body)?.details;
    return (
      Array.isArray(details) &&
      details.some((detail) => isObject(detail) && /^API_KEY_/.test(String(detail.reason)))
    );
  },
};

/** The error of a stream's event. */
export function streamError(error: unknown): object {
  if (!isObject(error)) return errorObject(502, 'The provider reported an error', null);
  return errorObject(502, String(error.message ?? 'The provider reported an error'), codeOf(error));
}

function errorOf(body: Buffer): JsonObject | undefined {
  const error = parsedObject(body)?.error;
  return isObject(error) && typeof error.message === 'string' ? error : undefined;
}

function codeOf(error: JsonObject): string | null {
  return typeof error.status === 'string' ? error.status.toLowerCase() : null;
}
