import type { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import type { Context } from 'aws-lambda';
import serverlessHttp from 'serverless-http';
import { type ComposeGroups, cutAnswer, openHandlerApp } from '../lib/app/handler-app.ts';
import { type AwsLambda, awsLambda } from './lambda/awslambda.ts';
import { CutOff, endOnce, mendResponse } from './lambda/gaps.ts';
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
    } catch (error) {
      if (error instanceof CutOff) return cutAnswer();
      throw error;
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
