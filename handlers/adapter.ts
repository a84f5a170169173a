import type { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { Context } from 'aws-lambda';
import serverlessHttp from 'serverless-http';
import { type ComposeGroups, cutAnswer, openHandlerApp } from '../lib/app/handler-app.ts';
import { type AwsLambda, awsLambda } from './lambda/awslambda.ts';
import { type GatewayEvent, isOverTls, plainEvent } from './lambda/plain-event.ts';
import { createStreamedResponse } from './lambda/streamed-response.ts';

type App = (request: IncomingMessage, response: ServerResponse) => void;
/** The request that serverless-http makes of an event. */
type EventRequest = IncomingMessage & { apiGateway: { event: GatewayEvent; context: LambdaContext } };
/** Lambda's context; beside it the stream of an answer that flows. */
type LambdaContext = Partial<Context> & { out?: Writable };
export type LambdaHandler = (event: GatewayEvent, context: LambdaContext) => Promise<unknown>;

/**
 * Makes a Lambda function of route groups, for events of API Gateway (payload versions 1 and 2).
 * @param options.streams answers flow where the platform lets them: events with `response.transferMode: STREAM`
 */
export function createHandler(
  composeGroups: ComposeGroups,
  options: { streams?: boolean } = {},
): LambdaHandler {
  const app = openHandlerApp(composeGroups);
  const buffered = createBufferedHandler(app);
  if (!options.streams || awsLambda === undefined) return buffered;
  const streamed = createStreamedHandler(app, awsLambda);
  return awsLambda.streamifyResponse(
    (event: GatewayEvent, out: Writable | LambdaContext, context: LambdaContext) =>
      // serverless-offline has the wrapper but calls what it wraps with event and context.
      out instanceof Writable ? streamed(event, { ...context, out }) : buffered(event, out),
  );
}

/** The whole answer at once. */
function createBufferedHandler(app: App): LambdaHandler {
  const handle = wrap((request, response) => {
    mendResponse(response);
    app(request, response);
  });
  return async (event, context) => {
    try {
      return await handle(event, context);
    } catch {
      return cutAnswer();
    }
  };
}

/** The answer as it comes, into `context.out`. What serverless-http makes of it goes unused. */
function createStreamedHandler(app: App, { HttpResponseStream }: AwsLambda): LambdaHandler {
  return wrap((request, unused) => {
    const { out } = request.apiGateway.context;
    if (out === undefined) throw new Error('a streamed answer needs a stream');
    const response = createStreamedResponse(request, (head) => HttpResponseStream.from(out, head));
    response.once('close', () => unused.end());
    app(request, response);
  });
}

function wrap(app: (request: EventRequest, response: ServerResponse) => void): LambdaHandler {
  const handle = serverlessHttp(
    (request: EventRequest, response: ServerResponse) => {
      const { event } = request.apiGateway;
      (request.socket as { encrypted?: boolean }).encrypted = isOverTls(event);
      if (event.body === '') delete request.headers['content-length'];
      endOnce(request);
      app(request, response);
    },
    // Bytes leave as they are, whatever their type.
    { binary: true },
  );
  return (event, context) => handle(plainEvent(event), context);
}

/** serverless-http also emits an `end` of its own for an empty body, before or after the stream's. */
function endOnce(request: IncomingMessage): void {
  const { emit } = request;
  let ended = false;
  request.emit = (name: string | symbol, ...values: unknown[]) => {
    if (name === 'end') {
      if (ended || !request.readableEnded) return false;
      ended = true;
    }
    return emit.call(request, name, ...values);
  };
}

/**
 * serverless-http waits for `finish` or `error`; a destroyed response has neither. And its socket, which takes
 * everything at once, does not say so: without it Node never counts the response as written.
 */
function mendResponse(response: ServerResponse): void {
  Object.assign(response.socket ?? {}, { writableLength: 0 });
  const { destroy } = response;
  response.destroy = (error?: Error) => {
    destroy.call(response, error);
    if (response.listenerCount('error') > 0) response.emit('error', error ?? new Error('cut'));
    return response;
  };
}
