import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { hasBody } from '../http/body.ts';
import { readAway } from '../http/linger.ts';
import type { HubRequest } from '../http/request-context.ts';
import { ProxyExchange } from './exchange.ts';
import { isStale, proxyFailure } from './failure.ts';
import { RequestBody } from './request-body.ts';
import { withPrivateCookie } from './response-headers.ts';
import type { Service } from './service.ts';

/** How an exchange with a service has ended. */
export interface ForwardEnd {
  /** What the caller saw; 499 where it had left. */
  status: number;
  /** Why the service failed, where it did. */
  cause?: Error;
}

/** Methods that may be sent once more (RFC 9110 §9.2.2), for none of them carries a body here. */
const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);
const LEFT: ForwardEnd = { status: 499 };

/**
 * Passes a request on and streams the answer back. Resolves when nothing more comes from the service; a failure
 * before the head of the answer rejects, one after it cuts the answer off.
 * @param end called once, before the last byte leaves for the caller
 */
export function forward(
  service: Service,
  path: string,
  request: HubRequest,
  response: ServerResponse,
  end: (end: ForwardEnd) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = {
      method: request.method as Dispatcher.HttpMethod,
      path,
      headers: service.requestHeaders(request),
      body: hasBody(request) ? new RequestBody(request, service.timeoutMs) : null,
    };
    const headersOf =
      request.hub.setCookie === undefined
        ? service.responseHeaders
        : (raw: readonly Buffer[]) => withPrivateCookie(service.responseHeaders(raw));
    let mayRepeat = options.body === null && REPEATABLE.has(options.method);

    const send = (): void => {
      const exchange = new ProxyExchange(response, headersOf, service.timeoutMs, {
        onAnswered(status) {
          end({ status });
          if (!request.complete) discard(request);
          resolve();
        },
        onFailed(cause, begun) {
          if (mayRepeat && !begun && isStale(cause)) {
            mayRepeat = false;
            send();
            return;
          }
          const failure = proxyFailure(cause);
          end({ status: failure.status, cause });
          if (!begun) {
            reject(failure);
            return;
          }
          // An answer that has begun must not look complete.
          response.destroy();
          resolve();
        },
        onLeft() {
          end(LEFT);
          resolve();
        },
      });
      service.pool.dispatch(options, exchange);
    };
    send();
  });
}

/** The service answered before it had the whole body: what still comes is read away, within bounds. */
function discard(request: IncomingMessage): void {
  readAway(request, () => {
    if (!request.complete) request.destroy();
  });
}
