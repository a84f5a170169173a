import type { Request, Response } from 'express';
import type { LogFields, Logger } from '../logging/logger.ts';
import type { HubRequest } from './request-context.ts';
import { pathOf } from './request-target.ts';

/** Status of a request whose caller left before there was one (nginx's convention). */
const CLIENT_CLOSED = 499;

/** The access log (contract §2): paths without queries, never a header's value. */
export interface AccessLog {
  /** Called when a request begins; what it returns writes the record, once, when the response has closed. */
  begin(request: Request, response: Response): () => void;
  write(request: HubRequest, outcome: LogFields & { status: number }): void;
}

/** Undefined where the log is switched off. */
export function createAccessLog(logger: Logger): AccessLog | undefined {
  if (!logger.enabled('info')) return undefined;

  function write(request: HubRequest, outcome: LogFields & { status: number }): void {
    const { hub } = request;
    const fields: LogFields = {
      requestId: hub.id,
      method: request.method,
      path: pathOf(request.url ?? ''),
      durationMs: Math.round((performance.now() - hub.startedAt) * 10) / 10,
      clientIp: hub.clientIp,
      caller: hub.caller.label,
      ...outcome,
      ...hub.log,
    };
    if (hub.traceparent !== undefined) fields.traceId = hub.traceparent.slice(3, 35);
    logger.info('request', fields);
  }

  return {
    write,
    begin(request, response) {
      const { socket } = request;
      const before = socket.bytesWritten;
      return () => {
        const outcome: LogFields & { status: number } = {
          status: response.headersSent ? response.statusCode : CLIENT_CLOSED,
        };
        // With head, as they left on the wire; a serverless platform has no wire to count on.
        if (before !== undefined) outcome.bytes = socket.bytesWritten - before;
        if (!response.writableFinished) outcome.aborted = true;
        write(request, outcome);
      };
    },
  };
}
