import type { Writable } from 'node:stream';

/** Head of a streamed answer, as Lambda's runtime and API Gateway take it. */
export interface StreamHead {
  statusCode: number;
  headers: Record<string, string>;
  multiValueHeaders: Record<string, string[]>;
}

/** What Lambda's Node runtime puts into the global scope for handlers whose answers stream. */
export interface AwsLambda {
  streamifyResponse<E, C>(
    handler: (event: E, out: Writable, context: C) => Promise<unknown>,
  ): (event: E, context: C) => Promise<unknown>;
  HttpResponseStream: { from(out: Writable, head: StreamHead): Writable };
}

const runtime = (globalThis as unknown as { awslambda?: Partial<AwsLambda> }).awslambda;

/** The runtime's streaming interface; undefined outside of Lambda, where libraries may have put an object there too. */
export const awsLambda =
  runtime?.streamifyResponse !== undefined && runtime.HttpResponseStream !== undefined
    ? (runtime as AwsLambda)
    : undefined;
