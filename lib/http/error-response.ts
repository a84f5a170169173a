import type { NextFunction, Request, Response } from 'express';
import { errorBody, type HubError, toHubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import { endRefused } from './linger.ts';
import type { RequestContext } from './request-context.ts';

export interface ErrorResponseDeps {
  /** Logger of type `error`. */
  logger: Logger;
  /** Cuts configured secrets out of a text (contract §8). */
  mask?: ((text: string) => string) | undefined;
}

/** An error as it leaves the hub. */
export interface RenderedError {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | number>;
  body: string;
}

/** What becomes of failures: one record of those that are not the caller's fault, one shape for all. */
export interface Failures {
  /** Turns anything thrown into an answer. `wanted` is false when nobody is left to read it. */
  render(thrown: unknown, context: RequestContext, wanted: boolean): RenderedError;
  /** Express's error middleware: the end of every failed request, never a second answer. */
  handle(thrown: unknown, request: Request, response: Response, next: NextFunction): void;
}

/** Headers that a route may have prepared for a success that did not come. */
const OF_SUCCESS = ['content-type', 'content-length', 'content-encoding', 'etag', 'cache-control'];

export function createFailures({ logger, mask }: ErrorResponseDeps): Failures {
  function render(thrown: unknown, context: RequestContext, wanted: boolean): RenderedError {
    const error = toHubError(thrown);
    context.log.code ??= error.code;
    if (error.status >= 500 && wanted) {
      logger.error(error.message, {
        requestId: context.id,
        code: error.code,
        status: error.status,
        caller: context.caller.label,
        ...describeCause(error),
      });
    }
    const text = JSON.stringify(errorBody(error));
    const body = mask === undefined ? text : mask(text);
    const headers: RenderedError['headers'] = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      ...error.headers,
    };
    // The rest of a late body must not be taken for the next request.
    if (error.code === 'request_timeout') headers.connection = 'close';
    if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer';
    return { status: error.status, headers, body };
  }

  return {
    render,
    // Express knows error middleware by its four parameters.
    handle(thrown, request, response, _next) {
      const hasLeft = response.destroyed && !response.writableFinished;
      const answer = render(thrown, request.hub, !hasLeft);
      if (hasLeft || response.writableEnded) return;
      if (response.headersSent) {
        // An answer that has begun cannot turn into an error: its end must look broken, not complete.
        response.destroy();
        return;
      }
      for (const name of OF_SUCCESS) response.removeHeader(name);
      endRefused(request, response, answer);
    },
  };
}

/** What really happened, for the log only. */
function describeCause({ cause }: HubError): { cause?: string } {
  if (cause === undefined) return {};
  return { cause: cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause) };
}
