import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LogFields, Logger } from '../logging/logger.ts';
import type { RequestContext } from './request-context.ts';
import { pathOf } from './request-target.ts';

/** Status of a request whose caller left before there was one (nginx's convention). */
const CLIENT_CLOSED = 499;

/** Prepares the access record of a request; the returned function writes it once, when the response has closed. */
export function createAccessLog(logger: Logger) {
  if (!logger.enabled('info')) return undefined;
  return (request: IncomingMessage, response: ServerResponse, context: RequestContext): (() => void) => {
    const { method, socket } = request;
    const path = pathOf(request.url ?? '');
    const before = socket.bytesWritten;
    return () => {
      const fields: LogFields = {
        requestId: context.id,
        method,
        path,
        status: response.headersSent ? response.statusCode : CLIENT_CLOSED,
        durationMs: Math.round((performance.now() - context.startedAt) * 10) / 10,
        // With head, as they left on the wire; serverless platforms do not tell.
        bytes: before === undefined ? undefined : socket.bytesWritten - before,
        clientIp: context.clientIp,
        caller: context.caller.label,
        ...context.log,
      };
      if (context.traceparent !== undefined) fields.traceId = context.traceparent.slice(3, 35);
      if (!response.writableFinished) fields.aborted = true;
      logger.info('request', fields);
    };
  };
}
