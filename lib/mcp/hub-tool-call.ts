import type { IncomingHttpHeaders } from 'node:http';
import type { HubToolConfig } from '../config/schema/tools.ts';
import { type CallArguments, callArguments } from './call-arguments.ts';
import { cancelledFailure, oversized, ToolFailure } from './failure.ts';
import {
  ArgumentRefused,
  bodyTemplate,
  headerTemplate,
  queryTemplate,
  urlTemplate,
} from './request-template.ts';
import type { StopSignal } from './stop-signal.ts';
import { textResult } from './tool-result.ts';
import type { ToolArguments, ToolCallOptions, ToolResult } from './tool-server.ts';
import { mediaType } from './transports/answer-reader.ts';
import type { HttpClient, HttpRequest } from './transports/http-client.ts';
import { networkFailure } from './transports/network-failure.ts';

/** Calls one HTTP API with the arguments of one invocation. @throws ToolFailure */
export type HubToolCall = (args: ToolArguments, options: ToolCallOptions) => Promise<ToolResult>;

export interface HubToolDeps {
  http: HttpClient;
  /** Cuts configured secrets out of what a failing API says. */
  mask(text: string): string;
}

/** Of a failure's body so much is told (contract §6). */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_RESULT_BYTES = 16 * 1024 * 1024;
const HAS_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Compiles a tool of the configuration once (contract §2 `tools[]`).
 * @throws Error when its address would let an argument choose the server.
 */
export function compileHubTool(config: HubToolConfig, { http, mask }: HubToolDeps): HubToolCall {
  const { method, headers, query, body } = config.request;
  const urlOf = urlTemplate(config.request.url);
  const addQuery = queryTemplate(query);
  const headersOf = headerTemplate(headers);
  const bodyOf = bodyTemplate(body);

  function requestFor(args: CallArguments): HttpRequest {
    const url = urlOf(args);
    addQuery(args, url.searchParams);
    const sent = { 'user-agent': 'hub', accept: '*/*', 'accept-encoding': 'identity', ...headersOf(args) };
    if (body === undefined || !HAS_BODY.has(method)) return { method, url, headers: sent };
    return {
      method,
      url,
      headers: { 'content-type': 'application/json', ...sent },
      body: bodyOf(args) ?? 'null',
    };
  }

  return (args, options) => {
    let request: HttpRequest;
    try {
      request = requestFor(callArguments(args));
    } catch (error) {
      if (!(error instanceof ArgumentRefused)) throw error;
      const text = `Invalid arguments for ${config.name}: ${error.message}`;
      throw new ToolFailure('tool', 'invalid_arguments', text, { cause: error });
    }
    return exchange(http, request, config.timeout, options.signal).then(({ status, head, body }) =>
      isSuccess(status) ? success(body, head) : textResult(mask(refusal(status, body)), true),
    );
  };
}

/** An answer, its body cut where it is a failure's. */
interface Answer {
  status: number;
  head: IncomingHttpHeaders;
  body: Buffer;
}

function exchange(
  http: HttpClient,
  request: HttpRequest,
  timeout: number,
  signal: StopSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let status = 0;
    let head: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    let length = 0;
    const timer = setTimeout(
      () => give(new ToolFailure('timeout', 'timeout', `No answer within ${timeout} ms`)),
      timeout,
    );
    const leave = () => give(cancelledFailure());
    const sent = http.send(request, {
      head(code, headers) {
        status = code;
        head = headers;
      },
      data(chunk) {
        length += chunk.length;
        chunks.push(chunk);
        if (!isSuccess(status) && length > MAX_ERROR_BYTES) finish();
        else if (length > MAX_RESULT_BYTES) give(oversized(MAX_RESULT_BYTES));
      },
      end: finish,
      error: (error) => give(networkFailure(error)),
    });
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });

    function settle(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      sent.abort();
    }
    function give(failure: ToolFailure): void {
      settle();
      reject(failure);
    }
    function finish(): void {
      settle();
      const body = Buffer.concat(chunks);
      resolve({ status, head, body: isSuccess(status) ? body : body.subarray(0, MAX_ERROR_BYTES) });
    }
  });
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function refusal(status: number, body: Buffer): string {
  return body.length === 0 ? `HTTP ${status}` : `HTTP ${status}\n${body.toString('utf8')}`;
}

/** Texts as text, pictures and sounds as what they are, anything else as an embedded resource. */
function success(body: Buffer, headers: IncomingHttpHeaders): ToolResult {
  const type = mediaType(headers['content-type']);
  const kind = /^(image|audio)\//.exec(type)?.[1];
  if (kind !== undefined && type !== 'image/svg+xml') {
    return contentResult({ type: kind, data: body.toString('base64'), mimeType: type });
  }
  if (isText(type)) return textResult(body.toString('utf8'), false);
  const resource = { uri: 'hub://tool-result', mimeType: type, blob: body.toString('base64') };
  return contentResult({ type: 'resource', resource });
}

function isText(type: string): boolean {
  return type === '' || /^text\/|[/+](json|xml|javascript|yaml|x-ndjson|x-www-form-urlencoded)$/.test(type);
}

function contentResult(content: Record<string, unknown>): ToolResult {
  return { text: JSON.stringify({ content: [content], isError: false }), isError: false };
}
