import type { Dispatcher } from 'undici';
import { HubError } from '../../errors/hub-error.ts';
import type { Verifier } from '../verifier.ts';
import { identityIdOf } from './identity-fields.ts';

/** An identity answer is a small JSON object; more than this is not one. */
const MAX_ANSWER_BYTES = 256 * 1024;

export interface EdapiVerifierDeps {
  /** Address of the identity API, called as it is. */
  url: string;
  dispatcher: Dispatcher;
}

/** Asks the content system's identity API: `GET {edapi_url}` with the caller's bearer (contract §4). */
export function createEdapiVerifier({ url, dispatcher }: EdapiVerifierDeps): Verifier {
  const { origin, pathname, search } = new URL(url);
  return {
    async verify(token, signal) {
      const { status, body } = await ask(token, signal);
      if (status === 401 || status === 403) return undefined;
      if (status < 200 || status > 299) throw unavailable(`The identity API answered ${status}`);
      const subject = parseObject(body);
      const id = subject && identityIdOf(subject);
      if (id === undefined) throw unavailable('The identity API answered without an identity');
      return { id };
    },
    close: () => dispatcher.close(),
  };

  async function ask(token: string, signal: AbortSignal): Promise<{ status: number; body: string }> {
    try {
      const answer = await dispatcher.request({
        origin,
        path: pathname + search,
        method: 'GET',
        headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
        signal,
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of answer.body) {
        bytes += chunk.length;
        if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer is too large');
        chunks.push(chunk);
      }
      return { status: answer.statusCode, body: Buffer.concat(chunks).toString() };
    } catch (cause) {
      throw unavailable('The identity API gave no answer', cause);
    }
  }
}

/** The caller can do nothing about it but try again: 503, and never "let in". */
export function unavailable(message: string, cause?: unknown): HubError {
  return new HubError(
    'identity_unavailable',
    'The identity service cannot be asked right now; try again later',
    {
      cause: cause ?? new Error(message),
      headers: { 'retry-after': '5' },
    },
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
