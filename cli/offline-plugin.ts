import { randomUUID } from 'node:crypto';
import { errorBody, HubError } from '../lib/errors/hub-error.ts';
import { securityHeaders } from '../lib/http/response-head.ts';

/** The parts of serverless, serverless-offline and hapi that this file uses; none of them has types for it. */
interface Serverless {
  pluginManager: { plugins: readonly object[] };
}
interface OfflinePlugin {
  internals(): { getApiGatewayServer(): HapiServer };
}
interface HapiServer {
  info: { uri: string };
  ext(event: 'onRequest' | 'onPreHandler' | 'onPreResponse', method: Step): void;
}
type Step = (request: HapiRequest, toolkit: { continue: symbol }) => symbol;
interface HapiRequest {
  headers: Record<string, string | undefined>;
  response: Refusal | { charset(name: string): void };
}
/** What hapi answers by itself, without asking a handler. */
interface Refusal {
  isBoom: true;
  output: { statusCode: number; payload: object; headers: Record<string, string> };
}

/**
 * Plugin of the serverless tool: brings the emulated API Gateway of serverless-offline closer to the real one,
 * and tells the process that started it where it listens. Without effect on `package` and `deploy`.
 */
export default class OfflineGateway {
  readonly hooks: Record<string, () => void>;

  constructor(serverless: Serverless) {
    this.hooks = { 'after:offline:start:init': () => adapt(serverOf(serverless)) };
    const { OFFLINE_WORKING_DIRECTORY } = process.env;
    // The tool insists on starting beside serverless.yml; the hub's relative paths are the caller's.
    if (OFFLINE_WORKING_DIRECTORY) {
      this.hooks['before:offline:start:init'] = () => process.chdir(OFFLINE_WORKING_DIRECTORY);
    }
  }
}

function serverOf(serverless: Serverless): HapiServer {
  const offline = serverless.pluginManager.plugins.find(
    (plugin) => plugin.constructor.name === 'ServerlessOffline',
  );
  return (offline as OfflinePlugin).internals().getApiGatewayServer();
}

function adapt(server: HapiServer): void {
  server.ext('onRequest', (request, { continue: next }) => {
    // Else it answers every preflight itself and allows every origin. Handlers see the header all the same.
    delete request.headers.origin;
    return next;
  });
  server.ext('onPreHandler', (request, { continue: next }) => {
    // It knows no binaryMediaTypes and passes bytes untouched (as base64) for this type only. Handlers see the
    // caller's own.
    request.headers['content-type'] = 'multipart/form-data';
    return next;
  });
  server.ext('onPreResponse', (request, { continue: next }) => {
    if ('isBoom' in request.response) reshape(request.response);
    // Else it adds one of its own to the handler's Content-Type.
    else request.response.charset('');
    return next;
  });
  process.send?.({ type: 'ready', url: server.info.uri });
}

/** Gives an answer that no handler made the shape of all others. */
function reshape({ output }: Refusal): void {
  const error = refusalError(output.statusCode);
  output.statusCode = error.status;
  output.payload = errorBody(error);
  Object.assign(output.headers, Object.fromEntries(securityHeaders(false)), { 'x-request-id': randomUUID() });
}

function refusalError(status: number): HubError {
  if (status === 413) {
    return new HubError(
      'body_too_large',
      'The platform takes bodies of at most 10 MB here. Larger videos go by way of the staging bucket (videohost.staging)',
    );
  }
  if (status < 500) return new HubError('invalid_request', 'The request cannot be read');
  return new HubError('internal_error', 'The hub failed to answer this request');
}
