import type { Dispatcher } from 'undici';
import { HubError, isHubErrorCode } from '../errors/hub-error.ts';
import { INTERNAL_HEADERS } from './protocol.ts';

/** Answers of small calls are bounded, whatever the companion sends. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export interface JsonCall {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** Flat list of names and values. */
  headers: string[];
  /** Serialised as JSON; undefined sends none. */
  body?: unknown;
}

/** The one error for a companion that cannot be reached (contract §3). */
export function unavailable(cause?: unknown): HubError {
  return new HubError('ailink_unavailable', 'AI-Link is not available at the moment', { cause });
}

/**
 * One call with a JSON answer; a text answer (metrics) comes as a string, an empty one as null.
 * @throws HubError `ailink_unavailable`, or the error that the companion answered.
 */
export function callJson(pool: Dispatcher, call: JsonCall, signal?: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let abort: ((reason: Error) => void) | undefined;
    const onAbort = () => {
      abort?.(new Error('aborted'));
      finish(() => reject(unavailable(signal?.reason)));
    };
    if (signal?.aborted) {
      reject(unavailable(signal.reason));
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    const finish = (settle: () => void) => {
      signal?.removeEventListener('abort', onAbort);
      settle();
    };

    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let isJson = false;
    let refused = false;
    const headers =
      call.body === undefined ? call.headers : [...call.headers, 'content-type', 'application/json'];
    pool.dispatch(
      {
        method: call.method,
        path: call.path,
        headers,
        body: call.body === undefined ? null : JSON.stringify(call.body),
      },
      {
        onRequestStart(controller) {
          abort = (reason) => controller.abort(reason);
          if (signal?.aborted) abort(new Error('aborted'));
        },
        onResponseStart(_controller, statusCode, responseHeaders) {
          status = statusCode;
          isJson = String(responseHeaders['content-type'] ?? '').startsWith('application/json');
          refused = responseHeaders[INTERNAL_HEADERS.refused] !== undefined;
        },
        onResponseData(controller, chunk) {
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) controller.abort(new Error('The answer is too large'));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          finish(() => {
            try {
              const text = Buffer.concat(chunks).toString('utf8');
              const body: unknown = isJson && text !== '' ? JSON.parse(text) : text || null;
              if (refused) reject(unavailable(new Error('AI-Link refused the token')));
              else if (status >= 200 && status < 300) resolve(body);
              else reject(errorFrom(status, body));
            } catch (error) {
              reject(unavailable(error));
            }
          });
        },
        onResponseError(_controller, error) {
          finish(() => reject(unavailable(error)));
        },
      },
    );
  });
}

/** Rebuilds the error that the companion rendered, so that the gateway renders the same. */
function errorFrom(status: number, body: unknown): HubError {
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  if (!isHubErrorCode(error.code) || error.code === 'internal_error') {
    return new HubError('internal_error', 'The hub failed to answer this request', {
      cause: new Error(`AI-Link answered ${status}`),
    });
  }
  const { message, code, type: _type, param, details, ...extra } = error;
  return new HubError(code as typeof error.code, String(message), {
    status,
    ...(typeof param === 'string' && { param }),
    ...(details !== undefined && { details }),
    ...(Object.keys(extra).length > 0 && { extra }),
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
