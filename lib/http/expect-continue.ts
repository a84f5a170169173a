import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** On a request whose caller waits for leave to send its body: the response that gives it. */
const WAITING: unique symbol = Symbol('waiting for 100 Continue');

type WaitingRequest = IncomingMessage & { [WAITING]?: ServerResponse | undefined };

/**
 * Listener of the server's `checkContinue` event. Node would say 100 Continue to every caller at once; here the word
 * comes when the body is first read, so that a refused upload is never sent (RFC 9110 §10.1.1).
 */
export function continueListener(handle: RequestListener): RequestListener {
  return (request: WaitingRequest, response) => {
    request[WAITING] = response;
    handle(request, response);
  };
}

/** Whether the caller has not begun to send its body. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return (request as WaitingRequest)[WAITING] !== undefined;
}

/** To be called when the body is about to be read. */
export function giveContinue(request: IncomingMessage): void {
  const waiting = (request as WaitingRequest)[WAITING];
  if (waiting === undefined) return;
  (request as WaitingRequest)[WAITING] = undefined;
  if (!waiting.headersSent) waiting.writeContinue();
}
