import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { NextFunction, Request, Response } from 'express';
import { errorBody, type HubError, toHubError } from '../errors/hub-error.ts';
import type { Logger } from '../logging/logger.ts';
import { endRefused } from './linger.ts';

export interface ErrorResponseDeps {
  /** Logger of type `error`. */
  logger: Logger;
  /** Cuts configured secrets out of a text (contract §8). */
  mask?: ((text: string) => string) | undefined;
}

/** The end of every failed request: one body shape, one record, never a second answer. */
export function createErrorHandler({ logger, mask }: ErrorResponseDeps) {
  return (thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
    const context = request.hub;
    const error = toHubError(thrown);
    const left = response.destroyed && !response.writableFinished;
    if (error.status >= 500 && !left) {
      logger.error(error.message, {
        requestId: context.id,
        code: error.code,
        status: error.status,
        caller: context.caller.label,
        ...describeCause(error),
      });
    }
    if (left || response.writableEnded) return;
    if (response.headersSent) {
      breakOff(response, error);
      return;
    }
    context.log.code ??= error.code;
    const text = JSON.stringify(errorBody(error));
    sendRefusal(request, response, error, mask === undefined ? text : mask(text));
  };
}

function sendRefusal(request: Request, response: Response, error: HubError, body: string): void {
  // A route may have prepared headers for a success that did not come.
  for (const name of ['content-type', 'content-length', 'content-encoding', 'etag', 'cache-control']) {
    response.removeHeader(name);
  }
  const headers: Record<string, string | number> = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...error.headers,
  };
  if (error.code === 'unauthorized') headers['www-authenticate'] = 'Bearer';
  endRefused(request, response, error.status, headers, body);
}

/** A response that has begun cannot turn into an error: its end must look broken, not complete. */
function breakOff(response: ServerResponse, error: HubError): void {
  // Under serverless-http nothing has left yet; an error event fails the whole call, a destroyed response hangs it.
  if (!(response.socket instanceof Socket) && response.listenerCount('error') > 0) {
    response.emit('error', error);
    return;
  }
  response.destroy();
}

/** What really happened, for the log only. */
function describeCause(error: HubError): { cause?: string } {
  const { cause } = error;
  if (cause === undefined) return {};
  return { cause: cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause) };
}
